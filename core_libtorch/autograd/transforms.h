// Function transforms (torch.func): LibTorch's stack of levels for each thread.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstdint>
#include <string_view>

namespace simple_torch::core {

/// Enters grad, jvp or vmap on this thread and returns its level. vmap needs a batch size and a randomness:
/// error, same or different. Throws Error(kInvalidArgument) for another kind or randomness.
int64_t begin_transform(std::string_view kind, int64_t batch_size, std::string_view randomness);

/// Exits this thread's innermost transform. Throws Error(kInvalidArgument) if there is none.
void end_transform();

/// Wraps the tensor for a level of grad or jvp.
at::Tensor wrapped_for(const at::Tensor& tensor, int64_t level);

/// The wrapped tensor; other tensors unchanged.
at::Tensor unwrapped_from(const at::Tensor& tensor, int64_t level);

/// Wraps a batch along `dim` as one sample of a vmap level. The reverse returns all samples along `dim`; a
/// tensor that does not depend on the batch is expanded to `batch_size`.
at::Tensor batched(const at::Tensor& tensor, int64_t dim, int64_t level);
at::Tensor unbatched(const at::Tensor& tensor, int64_t level, int64_t batch_size, int64_t dim);

/// Whether this thread is inside a transform.
inline bool in_transforms() {
  return c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchDynamicLayerFrontMode);
}

/// In this scope transforms ignore operations of this thread, so that a new tensor has writable memory.
/// at::lift_fresh then wraps it for the level, as torch.tensor does.
class OutsideTransforms {
 private:
  c10::impl::ExcludeDispatchKeyGuard front_{c10::DispatchKey::FuncTorchDynamicLayerFrontMode};
  c10::impl::ExcludeDispatchKeyGuard back_{c10::DispatchKey::FuncTorchDynamicLayerBackMode};
};

/// Levels of forward-mode AD. LibTorch supports one at a time.
int64_t begin_forward_ad();
void end_forward_ad(int64_t level);

}  // namespace simple_torch::core
