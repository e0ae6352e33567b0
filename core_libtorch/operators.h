// Any operator that LibTorch's dispatcher knows, called by its PyTorch name.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <utility>
#include <vector>

namespace simple_torch::core {

/// What a call gives: positional values, then those with a name. Lists are List[Any].
struct CallValues {
  std::vector<c10::IValue> positional;
  std::vector<std::pair<std::string, c10::IValue>> named;
};

/// What an operator gave: one value for each return of its schema.
struct CallResults {
  std::vector<c10::IValue> values;
  const c10::FunctionSchema* schema;
};

/// The overloads of "softmax", "aten::softmax" or "torchvision::nms", in PyTorch's order; empty where there
/// are none. The list lives as long as the process. Operators registered later are seen the next time a
/// missing name is asked for.
const std::vector<c10::OperatorHandle>& overloads_of(const std::string& name);

/// One overload; "" is the one without an overload name. Throws Error(kNotImplemented) that lists what there
/// is.
const c10::OperatorHandle& overload_of(const std::string& name, const std::string& overload);

/// Calls the first overload that the values fit, with PyTorch's defaults, `out:` for one result or a list of
/// them, sizes as one list or one by one, and `requires_grad:` for what makes tensors. Throws Error:
/// kNotImplemented (no such operator), kInvalidArgument (no overload fits: each is listed with the reason),
/// and what the operator itself refuses.
CallResults call_by_name(const std::string& name, const CallValues& values);

/// Calls one overload with the positional values on `stack`, which becomes its results.
void call_overload(const c10::OperatorHandle& op, std::vector<c10::IValue>& stack);

/// The schema of each overload, one a line: "aten::relu(Tensor self) -> Tensor"; "" where there are none.
std::string schemas_of(const std::string& name);

/// Every operator's name with its namespace, sorted, one a line.
std::string operator_names();

}  // namespace simple_torch::core
