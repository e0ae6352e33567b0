// Calls of PyTorch's functions whose operator has another name or other arguments.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "abi/backend/operator_plans.h"
#include "core_libtorch/operators.h"

namespace simple_torch::abi {

/// The call of an operator that stands for a call of Python's function.
struct PythonForm {
  std::string name;
  core::CallValues values;
  // For each of `values`, positional ones first, the index of the caller's value; nothing for a constant.
  std::vector<std::optional<size_t>> sources;

  void add(c10::IValue value, std::optional<size_t> source);
  void add(const std::string& name, c10::IValue value, std::optional<size_t> source);
};

/// Nothing for a call that has no such form; then the function is its operator, or is_other_function().
std::optional<PythonForm> python_form(const std::string& name, const DirectCall& call);

/// Whether Python's function has another signature than its operator.
bool is_other_function(const std::string& name);

/// The value of a call for the choice of an overload.
c10::IValue general_value(char letter, const SplValue& value);

}  // namespace simple_torch::abi
