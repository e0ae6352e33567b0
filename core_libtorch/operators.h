// Any operator that LibTorch's dispatcher knows, called by its PyTorch name.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace simple_torch::core {

/// The arguments of a call: positional and named values. Lists are List[Any].
struct CallValues {
  std::vector<c10::IValue> positional;
  std::vector<std::pair<std::string, c10::IValue>> named;
};

/// The results of an operator: one value for each return of its schema.
struct CallResults {
  std::vector<c10::IValue> values;
  const c10::FunctionSchema* schema;
};

/// The overloads of "softmax", "aten::softmax" or "torchvision::nms", in PyTorch's order; empty if there
/// are none. The list lives as long as the process. A later call for a missing name finds operators that were
/// registered since.
const std::vector<c10::OperatorHandle>& overloads_of(const std::string& name);

/// One overload; "" is the one without an overload name. Throws Error(kNotImplemented), which lists the
/// overloads.
const c10::OperatorHandle& overload_of(const std::string& name, const std::string& overload);

/// Calls the first overload that accepts the values, with PyTorch's defaults. `out:` is one result or a list
/// of them; sizes are one list or single numbers; tensor factories accept `requires_grad:`. Throws
/// Error(kNotImplemented) for an unknown operator, with the closest name as a suggestion;
/// Error(kInvalidArgument) if no overload accepts the values (lists each with the reason); and the operator's
/// own errors.
CallResults call_by_name(const std::string& name, const CallValues& values);

/// Where an argument of an overload comes from: `value` is an index into the positional and then the named
/// values.
struct ArgumentSource {
  enum class Form : uint8_t { kDefault, kValue, kSizes };  // kSizes: all positional values from `value` on
  Form form = Form::kDefault;
  size_t value = 0;
};

/// The overload that call_by_name() calls for all values of these types.
struct OverloadChoice {
  const c10::OperatorHandle* op;
  std::vector<c10::IValue> stack;       // its arguments
  std::vector<ArgumentSource> sources;  // one for each
  std::optional<size_t> requires_grad;  // the value that is passed to the result, not to the operator
  bool is_random = false;               // call_by_name() may pass this thread's generator
  void (*crash_guard)(const std::vector<c10::IValue>& arguments) = nullptr;
};

/// Nothing if the choice depends on more than the types of the values, or if no overload accepts them.
std::optional<OverloadChoice> choose_by_types(const std::string& name, const CallValues& values);

/// Calls one overload with the positional values on `stack`, which becomes its results.
void call_overload(const c10::OperatorHandle& op, std::vector<c10::IValue>& stack);

/// The names of the results, separated by commas; empty where the schema has none.
std::string names_of_results(const c10::FunctionSchema& schema);

/// The schema of each overload, one a line: "aten::relu(Tensor self) -> Tensor"; "" where there are none.
std::string schemas_of(const std::string& name);

/// Every operator's name with its namespace, sorted, one a line.
std::string operator_names();

}  // namespace simple_torch::core
