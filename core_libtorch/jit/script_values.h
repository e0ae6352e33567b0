// Values of programs as arguments of TorchScript, whose lists, dicts and tuples are typed.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <string>

namespace simple_torch::core {

/// Converts a value to the type: an integer where a float is declared, List[Any] to List[Tensor]. `what`
/// names the value in messages: "argument 'x'". Throws Error(kInvalidArgument) for another type of value, and
/// for types whose values only TorchScript can make.
c10::IValue to_script_type(const c10::IValue& value, const c10::TypePtr& type, const std::string& what);

/// The value with the narrowest types that its items have. Throws Error(kInvalidArgument) for a list or a
/// dict whose items have several types.
c10::IValue with_inferred_type(const c10::IValue& value, const std::string& what);

/// As Python names it: "Tensor", "int", "List[Tensor]".
std::string script_type_name(const c10::IValue& value);

}  // namespace simple_torch::core
