// Runs an operation and converts LibTorch's exceptions to our Error.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "core_libtorch/error_table.h"

namespace simple_torch::core {

inline constexpr std::initializer_list<const at::Tensor*> kNoOperands{};

/// Runs `op`. If LibTorch throws, rethrows its message as our Error with the nearest kind and the operands'
/// shapes, dtypes or devices in the fields. Costs nothing while `op` succeeds.
template <class Op>
auto with_error_context(const char* name, std::initializer_list<const at::Tensor*> operands, Op&& op)
    -> decltype(op()) {
  try {
    return std::forward<Op>(op)();
  } catch (...) {
    rethrow_with_context(name, operands);
  }
}

/// The same for an operation on a list of tensors.
template <class Op>
auto with_error_context(const char* name, at::TensorList operands, Op&& op) -> decltype(op()) {
  try {
    return std::forward<Op>(op)();
  } catch (...) {
    std::vector<const at::Tensor*> pointers;
    for (const at::Tensor& operand : operands) {
      pointers.push_back(&operand);
    }
    rethrow_with_context(name, pointers);
  }
}

}  // namespace simple_torch::core
