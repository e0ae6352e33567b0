// Hooks of the program on the gradients of tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

namespace simple_torch::core {

/// Dies with the tensor's history, or when it is removed; on any thread.
class GradientHook {
 public:
  GradientHook() = default;
  virtual ~GradientHook() = default;
  GradientHook(const GradientHook&) = delete;
  GradientHook& operator=(const GradientHook&) = delete;

  /// What replaces the gradient; undefined: it stays. After accumulation it is given the tensor, and gives
  /// nothing.
  virtual at::Tensor run(const at::Tensor& tensor) = 0;
};

/// Runs on each gradient of the tensor, in the order of registration; gives a number for remove_hook().
int64_t register_hook(const at::Tensor& tensor, std::shared_ptr<GradientHook> hook);

/// Runs with a leaf after its .grad has grown; gives a number for remove_hook().
int64_t register_post_accumulate_grad_hook(const at::Tensor& tensor, std::shared_ptr<GradientHook> hook);

/// Nothing happens where the hook, or its tensor, is gone already.
void remove_hook(int64_t number);

}  // namespace simple_torch::core
