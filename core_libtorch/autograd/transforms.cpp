#include "core_libtorch/autograd/transforms.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/DynamicLayer.h>
#include <ATen/functorch/TensorWrapper.h>
#include <ATen/ops/movedim.h>
#include <c10/core/AutogradState.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/forward_grad.h>

#include <string>
#include <vector>

#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

using at::functorch::RandomnessType;
using at::functorch::TransformType;
using torch::autograd::ForwardADLevel;

RandomnessType randomness_of(std::string_view word) {
  if (word == "error") {
    return RandomnessType::Error;
  }
  if (word == "same") {
    return RandomnessType::Same;
  }
  if (word == "different") {
    return RandomnessType::Different;
  }
  throw Error(ErrorKind::kInvalidArgument,
              "vmap: randomness must be 'error', 'same' or 'different', got '" + std::string(word) + "'");
}

}  // namespace

int64_t begin_transform(std::string_view kind, int64_t batch_size, std::string_view randomness) {
  if (kind == "grad") {
    return at::functorch::initAndPushDynamicLayer(TransformType::Grad, std::nullopt, std::nullopt,
                                                  c10::GradMode::is_enabled());
  }
  if (kind == "jvp") {
    const bool before = c10::AutogradState::get_tls_state().get_fw_grad_mode();
    return at::functorch::initAndPushDynamicLayer(TransformType::Jvp, std::nullopt, std::nullopt,
                                                  std::nullopt, before);
  }
  if (kind == "vmap") {
    return at::functorch::initAndPushDynamicLayer(TransformType::Vmap, c10::SymInt(batch_size),
                                                  randomness_of(randomness));
  }
  throw Error(ErrorKind::kInvalidArgument,
              "transform_begin: kind must be 'grad', 'jvp' or 'vmap', got '" + std::string(kind) + "'");
}

void end_transform() {
  if (at::functorch::getDynamicLayerStack().empty()) {
    throw Error(ErrorKind::kInvalidArgument, "transform_end: this thread has no open transform");
  }
  at::functorch::popDynamicLayerAndDeleteMetadata();
}

at::Tensor wrapped_for(const at::Tensor& tensor, int64_t level) {
  return at::functorch::makeTensorWrapper(tensor, level);
}

at::Tensor unwrapped_from(const at::Tensor& tensor, int64_t level) {
  const auto* const wrapper = at::functorch::maybeGetTensorWrapper(tensor);
  return wrapper != nullptr && wrapper->level() == level ? wrapper->value() : tensor;
}

at::Tensor batched(const at::Tensor& tensor, int64_t dim, int64_t level) {
  return at::functorch::addBatchDim(tensor, at::maybe_wrap_dim(dim, tensor.dim()), level);
}

at::Tensor unbatched(const at::Tensor& tensor, int64_t level, int64_t batch_size, int64_t dim) {
  const auto* const batch = at::functorch::maybeGetBatchedImpl(tensor);
  const int64_t position = at::maybe_wrap_dim(dim, tensor.dim() + 1);
  if (batch != nullptr && batch->level() == level) {
    return at::movedim(batch->value(), batch->bdim(), position);
  }
  const at::Tensor shared = tensor.unsqueeze(position);
  std::vector<int64_t> sizes = shared.sizes().vec();
  sizes[static_cast<size_t>(position)] = batch_size;
  return shared.expand(sizes);
}

int64_t begin_forward_ad() { return static_cast<int64_t>(ForwardADLevel::get_next_idx()); }

void end_forward_ad(int64_t level) {
  if (level < 0 || ForwardADLevel::try_get_by_idx(static_cast<uint64_t>(level)) == nullptr) {
    throw Error(ErrorKind::kInvalidArgument, "forward_ad: no open level " + std::to_string(level));
  }
  ForwardADLevel::release_idx(static_cast<uint64_t>(level));
}

}  // namespace simple_torch::core
