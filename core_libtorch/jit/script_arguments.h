// Matches the arguments of a call with the declaration of a TorchScript method.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace simple_torch::core {

/// The values of all arguments after `self`, converted to their declared types, with defaults for those that
/// are missing. The last `names.size()` arguments are named. Throws Error(kInvalidArgument) with PyTorch's
/// message if they do not fit the declaration.
std::vector<c10::IValue> matched_arguments(const c10::FunctionSchema& schema,
                                           const std::vector<c10::IValue>& arguments,
                                           const std::vector<std::string>& names);

}  // namespace simple_torch::core
