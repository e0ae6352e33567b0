// One value of a call by name, made to fit what the operator's schema asks for.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>

namespace simple_torch::core {

/// How far a value may be bent. Overloads are tried with kExact first, so that none wins by a loose fit.
enum class Fit {
  kExact,       // integers for floats, one number for a list of them, names for dtypes, devices, layouts
  kLoose,       // also a 0-d tensor for a number
  kDispatcher,  // moreover a number for a tensor, as PyTorch's Python passes them to its dispatcher
};

/// Makes `value` what the argument holds, as PyTorch's own argument parser would; false where it does not
/// fit. Lists come as List[Any]. Throws Error(kUnavailable) for a device that is not there.
bool coerce(c10::IValue& value, const c10::Argument& argument, Fit fit);

/// What a person would call it: "Tensor", "int", "list of Tensor".
std::string kind_of(const c10::IValue& value);

/// What the argument takes, as schemas spell it: "int[]", "ScalarType?".
std::string kind_of(const c10::Argument& argument);

}  // namespace simple_torch::core
