// Overloads of the most frequent signatures, called as C++ calls them: a box for each argument costs a third
// of a small operation.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>

namespace simple_torch::core {

/// What an overload takes; it gives one new tensor.
enum class Signature : uint8_t {
  kOther,
  kTensor,         // (Tensor)
  kTensors,        // (Tensor, Tensor)
  kTensorsAndOne,  // (Tensor, Tensor, Scalar = 1)
};

/// How many tensors the signature takes.
constexpr int64_t tensors_of(Signature signature) {
  return signature == Signature::kOther ? 0 : signature == Signature::kTensor ? 1 : 2;
}

/// An overload, with what is to be known of it before it can be called without boxes.
struct UnboxedOperator {
  const c10::OperatorHandle* op = nullptr;
  Signature signature = Signature::kOther;
  bool skips_autograd = false;  // where no operand has anything to do with it
};

/// Signature::kOther also for overloads that write to an argument, or that have fatal inputs.
UnboxedOperator unboxed_operator(const c10::OperatorHandle& op);

/// Calls it; `b` is null for kTensor. Throws Error, explained as the operator's.
at::Tensor call_unboxed(const UnboxedOperator& unboxed, const at::Tensor& a, const at::Tensor* b);

}  // namespace simple_torch::core
