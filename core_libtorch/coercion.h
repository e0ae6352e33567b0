// Converts one argument of a call by name to the type in the operator's schema.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>

namespace simple_torch::core {

/// The conversions that are allowed. Overloads are tried with kExact first, so that none is chosen by a loose
/// fit.
enum class Fit {
  kExact,       // integers for floats, one number for a list of them, names for dtypes, devices, layouts
  kLoose,       // kExact, and a 0-d tensor for a number
  kDispatcher,  // kLoose, and a number for a tensor, as PyTorch's Python passes it to the dispatcher
};

/// Converts `value` to the argument's type, as PyTorch's argument parser does; false if it does not fit.
/// Lists are List[Any]. Throws Error(kUnavailable) for a device that does not exist.
bool coerce(c10::IValue& value, const c10::Argument& argument, Fit fit);

/// The type's name in messages: "Tensor", "int", "list of Tensor".
std::string kind_of(const c10::IValue& value);

/// The argument's type in the schema's spelling: "int[]", "ScalarType?".
std::string kind_of(const c10::Argument& argument);

}  // namespace simple_torch::core
