// Calls of overloads by the C++ signature of their kernels, without boxed arguments.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>
#include <optional>
#include <vector>

namespace simple_torch::abi {

struct DirectCall;
struct Plan;

/// The results of a typed call: one tensor, several, or a number. None for an operator that works in place.
struct TypedResult {
  at::Tensor tensor;
  std::vector<at::Tensor> several;
  std::optional<at::Scalar> number;
};

/// How a plan calls its overload with the values of a call.
struct TypedCall {
  using Function = void (*)(const Plan& plan, const DirectCall& call, TypedResult& result);
  Function function = nullptr;         // NULL: the overload is called boxed
  std::shared_ptr<const void> handle;  // a c10::TypedOperatorHandle, whose making compares signatures
};

/// Whether an operator's result is one tensor.
inline bool is_tensor_result(const c10::Argument& result) {
  return result.type()->kind() == c10::TypeKind::TensorType;
}

/// Empty if no signature of ours is that of the overload, or if an argument is made in a way that it does not
/// support.
TypedCall typed_call_of(const Plan& plan);

}  // namespace simple_torch::abi
