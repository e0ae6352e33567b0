// Hooks on the tensors that operations save for their backward.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

namespace torch::autograd {
struct SavedVariableHooks;
}

namespace simple_torch::core {

/// What is done with the tensors that operations save for their backward. Dies on any thread.
class SavedTensorHooks {
 public:
  SavedTensorHooks() = default;
  virtual ~SavedTensorHooks() = default;
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;

  /// Gives a number that unpack() is given back.
  virtual int64_t pack(const at::Tensor& tensor) = 0;
  virtual at::Tensor unpack(int64_t packed) = 0;
  /// Nobody will unpack it any more.
  virtual void drop(int64_t packed) noexcept = 0;
};

/// This thread's hooks nest; the innermost counts.
void push_saved_tensor_hooks(std::shared_ptr<SavedTensorHooks> hooks);
/// Null where this thread has none.
std::shared_ptr<SavedTensorHooks> pop_saved_tensor_hooks();

/// From here on, on this thread, hooks are refused with the message, Python's as well. Throws
/// Error(kInvalidArgument) with it where this thread has hooks. They nest.
void disable_saved_tensor_hooks(const std::string& message);
/// Throws Error(kInvalidArgument) where nothing was disabled on this thread.
void enable_saved_tensor_hooks();
/// Throws Error(kInvalidArgument) with the message where they are disabled.
void need_saved_tensor_hooks();

/// For one tensor that an operation of this thread saves; null where this thread has no hooks.
std::unique_ptr<torch::autograd::SavedVariableHooks> hooks_for_saved_tensor();

}  // namespace simple_torch::core
