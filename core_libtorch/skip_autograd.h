// The short way into an operation: past autograd's layer of the dispatcher, where that layer has nothing to
// do.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

namespace simple_torch::core {

/// While it lives, calls skip autograd, if no operand has anything to do with it: neither a gradient nor a
/// history, a hook or a tangent. Only for operations with a kernel of their own below autograd that give new
/// tensors: autograd would do no more than call that kernel in the same state. What is computed from views,
/// or put together from other operations, needs the layer.
class BelowAutograd {
 public:
  explicit BelowAutograd(std::initializer_list<const at::Tensor*> operands) {
    if (std::all_of(operands.begin(), operands.end(), is_plain)) {
      guard_.emplace();
    }
  }

 private:
  // What belongs to a transform of a function may wrap one that has more to do with it.
  static bool is_plain(const at::Tensor* operand) {
    constexpr c10::DispatchKeySet kTransformed(
        {c10::DispatchKey::FuncTorchBatched, c10::DispatchKey::FuncTorchGradWrapper});
    const at::TensorImpl* const impl = operand->unsafeGetTensorImpl();
    return impl->autograd_meta() == nullptr && !impl->key_set().has_any(kTransformed);
  }

  std::optional<at::AutoDispatchBelowADInplaceOrView> guard_;
};

}  // namespace simple_torch::core
