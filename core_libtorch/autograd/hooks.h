// The program's hooks on gradients of tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

namespace simple_torch::core {

/// Destroyed with the tensor's history or when it is removed, on any thread.
class GradientHook {
 public:
  GradientHook() = default;
  virtual ~GradientHook() = default;
  GradientHook(const GradientHook&) = delete;
  GradientHook& operator=(const GradientHook&) = delete;

  /// Returns the gradient's replacement; undefined keeps the gradient. A post-accumulate hook receives the
  /// tensor, and its result is ignored.
  virtual at::Tensor run(const at::Tensor& tensor) = 0;
};

/// The hook runs on each gradient of the tensor, in registration order. Returns an id for remove_hook().
int64_t register_hook(const at::Tensor& tensor, std::shared_ptr<GradientHook> hook);

/// The hook runs with a leaf after an update of its .grad. Returns an id for remove_hook().
int64_t register_post_accumulate_grad_hook(const at::Tensor& tensor, std::shared_ptr<GradientHook> hook);

/// Does nothing if the hook or its tensor no longer exists.
void remove_hook(int64_t id);

}  // namespace simple_torch::core
