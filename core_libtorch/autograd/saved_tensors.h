// Hooks on the tensors that operations save for backward.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

namespace torch::autograd {
struct SavedVariableHooks;
}

namespace simple_torch::core {

/// Packs and unpacks the tensors that operations save for backward. Any thread may destroy it.
class SavedTensorHooks {
 public:
  SavedTensorHooks() = default;
  virtual ~SavedTensorHooks() = default;
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;

  /// Returns a number for unpack().
  virtual int64_t pack(const at::Tensor& tensor) = 0;
  virtual at::Tensor unpack(int64_t packed) = 0;
  /// The packed tensor will not be unpacked again.
  virtual void drop(int64_t packed) noexcept = 0;
};

/// This thread's hooks nest; the innermost is active.
void push_saved_tensor_hooks(std::shared_ptr<SavedTensorHooks> hooks);
/// Null if this thread has none.
std::shared_ptr<SavedTensorHooks> pop_saved_tensor_hooks();

/// Makes this thread reject hooks, Python's too, with the message. Throws Error(kInvalidArgument) with it if
/// this thread has hooks. Calls nest.
void disable_saved_tensor_hooks(const std::string& message);
/// Throws Error(kInvalidArgument) if this thread has not disabled hooks.
void enable_saved_tensor_hooks();
/// Throws Error(kInvalidArgument) with the message if hooks are disabled.
void require_saved_tensor_hooks();

/// The hooks for one saved tensor of this thread; null if the thread has none.
std::unique_ptr<torch::autograd::SavedVariableHooks> hooks_for_saved_tensor();

}  // namespace simple_torch::core
