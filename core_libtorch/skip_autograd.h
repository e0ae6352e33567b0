// Skips autograd's dispatcher layer for operations that do not need it.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

namespace simple_torch::core {

/// In this scope calls skip autograd, if no operand has a gradient, a history, a hook or a tangent. Use it
/// only for operations with a kernel of their own below autograd that return new tensors: autograd's layer
/// would only call that kernel. Views, and operations that are composed of others, need the layer.
class SkipAutogradGuard {
 public:
  explicit SkipAutogradGuard(std::initializer_list<const at::Tensor*> operands)
      : SkipAutogradGuard(operands.begin(), operands.end()) {}

  SkipAutogradGuard(const at::Tensor* const* first, const at::Tensor* const* last) {
    if (std::all_of(first, last, is_plain)) {
      guard_.emplace();
    }
  }

 private:
  // A tensor of a functorch transform may wrap a tensor that needs autograd.
  static bool is_plain(const at::Tensor* operand) {
    constexpr c10::DispatchKeySet kTransformed(
        {c10::DispatchKey::FuncTorchBatched, c10::DispatchKey::FuncTorchGradWrapper});
    const at::TensorImpl* const impl = operand->unsafeGetTensorImpl();
    return impl->autograd_meta() == nullptr && !impl->key_set().has_any(kTransformed);
  }

  std::optional<at::AutoDispatchBelowADInplaceOrView> guard_;
};

}  // namespace simple_torch::core
