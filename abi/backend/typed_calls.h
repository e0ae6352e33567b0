// Calls of overloads by the C++ signature of their kernels, without boxed arguments.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <vector>

namespace simple_torch::abi {

struct DirectCall;
struct Plan;

/// The results of a typed call: one tensor, or several. Neither for an operator that works in place.
struct TypedResult {
  at::Tensor tensor;
  std::vector<at::Tensor> several;
};

/// Calls the overload of the plan with the values of the call.
using TypedCall = void (*)(const Plan& plan, const DirectCall& call, TypedResult& result);

/// NULL if no signature of ours is that of the overload, or if an argument is made in a way that it does not
/// support; the overload is called boxed then.
TypedCall typed_call_of(const Plan& plan);

}  // namespace simple_torch::abi
