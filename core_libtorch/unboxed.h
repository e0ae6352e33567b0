// Unboxed calls of overloads with the most frequent signatures. Boxing the arguments takes a third of the
// time of a small operation.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>

namespace simple_torch::core {

/// An overload's parameters. It returns one new tensor.
enum class Signature : uint8_t {
  kOther,
  kTensor,         // (Tensor)
  kTensors,        // (Tensor, Tensor)
  kTensorsAndOne,  // (Tensor, Tensor, Scalar = 1)
};

/// The number of tensor parameters.
constexpr int64_t tensors_of(Signature signature) {
  return signature == Signature::kOther ? 0 : signature == Signature::kTensor ? 1 : 2;
}

/// An overload and the facts that an unboxed call needs.
struct UnboxedOperator {
  const c10::OperatorHandle* op = nullptr;
  Signature signature = Signature::kOther;
  bool skips_autograd = false;  // if no operand needs autograd
};

/// Whether a call may skip autograd's layer if no operand needs it: see SkipAutogradGuard.
bool can_skip_autograd(const c10::OperatorHandle& op);

/// Signature::kOther for other signatures, for overloads that write to an argument, and for those with a
/// crash guard.
UnboxedOperator unboxed_operator(const c10::OperatorHandle& op);

/// Calls it; `b` is null for kTensor. Throws Error as call_overload does.
at::Tensor call_unboxed(const UnboxedOperator& unboxed, const at::Tensor& a, const at::Tensor* b);

}  // namespace simple_torch::core
