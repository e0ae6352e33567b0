// Transforms of functions as LibTorch keeps them: a stack on each thread, whose levels mark their tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstdint>
#include <string_view>

namespace simple_torch::core {

/// Begins grad, jvp or vmap (with the size of its batch, and error, same or different for random numbers) on
/// this thread and gives its level. Throws Error(kInvalidArgument) for another kind or word.
int64_t begin_transform(std::string_view kind, int64_t batch_size, std::string_view randomness);

/// Ends what was begun last on this thread. Throws Error(kInvalidArgument) where nothing was.
void end_transform();

/// The tensor as one of a level of grad or jvp.
at::Tensor wrapped_for(const at::Tensor& tensor, int64_t level);

/// What a level wrapped; other tensors as they are.
at::Tensor unwrapped_from(const at::Tensor& tensor, int64_t level);

/// The tensor as one sample of a level of vmap, its samples lying along `dim`; and all samples along `dim`
/// again, of what none of them differs in `batch_size` times the same.
at::Tensor batched(const at::Tensor& tensor, int64_t dim, int64_t level);
at::Tensor unbatched(const at::Tensor& tensor, int64_t level, int64_t batch_size, int64_t dim);

/// Whether a transform is at work on this thread.
inline bool in_transforms() {
  return c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchDynamicLayerFrontMode);
}

/// While it lives, transforms let operations of this thread pass: a new tensor has memory that can be
/// written. at::lift_fresh then makes it one of the level, as torch.tensor does.
class OutsideTransforms {
 private:
  c10::impl::ExcludeDispatchKeyGuard front_{c10::DispatchKey::FuncTorchDynamicLayerFrontMode};
  c10::impl::ExcludeDispatchKeyGuard back_{c10::DispatchKey::FuncTorchDynamicLayerBackMode};
};

/// Levels of dual numbers. LibTorch has one at a time.
int64_t begin_forward_ad();
void end_forward_ad(int64_t level);

}  // namespace simple_torch::core
