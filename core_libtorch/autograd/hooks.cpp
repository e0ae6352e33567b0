#include "core_libtorch/autograd/hooks.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core_libtorch/autograd/id_registry.h"
#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

/// The position of a hook, so that it can be removed without keeping its tensor alive.
struct HookPosition {
  WeakTensor tensor;
  std::optional<unsigned> position;  // for a hook on the gradient; none for a post-accumulate hook
};

IdRegistry<HookPosition>& hook_positions() {
  static auto* const all = new IdRegistry<HookPosition>;  // never freed: threads that outlive main use it
  return *all;
}

/// A registered hook. Its destructor releases the id.
class RegisteredHook {
 public:
  RegisteredHook(std::shared_ptr<GradientHook> hook, int64_t id) : hook_(std::move(hook)), id_(id) {}
  RegisteredHook(const RegisteredHook&) = delete;
  RegisteredHook& operator=(const RegisteredHook&) = delete;
  ~RegisteredHook() { hook_positions().take(id_); }
  at::Tensor run(const at::Tensor& tensor) const { return hook_->run(tensor); }

 private:
  std::shared_ptr<GradientHook> hook_;
  int64_t id_;
};

/// All our hooks of one leaf; they run after the hooks that were present before.
class PostAccumulateHooks : public torch::autograd::PostAccumulateGradHook {
 public:
  explicit PostAccumulateHooks(std::unique_ptr<PostAccumulateGradHook> others) : others_(std::move(others)) {}

  void operator()(const at::Tensor& tensor) override {
    if (others_ != nullptr) {
      (*others_)(tensor);
    }
    const auto running = hooks_;  // a hook may remove itself
    for (const auto& [id, hook] : running) {
      hook->run(tensor);
    }
  }
  void add(int64_t id, std::shared_ptr<RegisteredHook> hook) { hooks_.emplace(id, std::move(hook)); }
  std::shared_ptr<RegisteredHook> take(int64_t id) {
    auto node = hooks_.extract(id);
    return node.empty() ? nullptr : std::move(node.mapped());
  }

 private:
  std::unique_ptr<PostAccumulateGradHook> others_;
  std::map<int64_t, std::shared_ptr<RegisteredHook>> hooks_;
};

PostAccumulateHooks& post_accumulate_hooks(const at::Tensor& tensor) {
  auto present = std::move(torch::autograd::impl::post_acc_grad_hooks(tensor));
  auto* ours = dynamic_cast<PostAccumulateHooks*>(present.get());
  if (ours == nullptr) {
    auto made = std::make_unique<PostAccumulateHooks>(std::move(present));
    ours = made.get();
    present = std::move(made);
  }
  torch::autograd::impl::set_post_acc_grad_hooks(tensor, std::move(present));
  return *ours;
}

}  // namespace

int64_t register_hook(const at::Tensor& tensor, std::shared_ptr<GradientHook> hook) {
  if (!tensor.requires_grad()) {
    throw Error(ErrorKind::kInvalidArgument,
                "cannot register a hook on a tensor that doesn't require gradient");
  }
  const int64_t id = hook_positions().add({WeakTensor(tensor.getIntrusivePtr()), std::nullopt});
  const auto registered = std::make_shared<const RegisteredHook>(std::move(hook), id);
  const unsigned position = tensor.register_hook([registered](const at::Tensor& gradient) {
    // The hook may remove itself, and this function with it.
    const auto running = registered;  // NOLINT(performance-unnecessary-copy-initialization)
    return running->run(gradient);
  });
  hook_positions().change(id, [&](HookPosition& hook_position) { hook_position.position = position; });
  return id;
}

int64_t register_post_accumulate_grad_hook(const at::Tensor& tensor, std::shared_ptr<GradientHook> hook) {
  if (!tensor.requires_grad()) {
    throw Error(ErrorKind::kInvalidArgument,
                "cannot register a hook on a tensor that doesn't require gradient");
  }
  if (tensor.grad_fn() != nullptr) {
    throw Error(ErrorKind::kInvalidArgument,
                "post accumulate grad hooks cannot be registered on non-leaf tensors");
  }
  const int64_t id = hook_positions().add({WeakTensor(tensor.getIntrusivePtr()), std::nullopt});
  post_accumulate_hooks(tensor).add(id, std::make_shared<RegisteredHook>(std::move(hook), id));
  return id;
}

void remove_hook(int64_t id) {
  std::optional<HookPosition> hook = hook_positions().take(id);
  if (!hook) {
    return;
  }
  const auto impl = hook->tensor.lock();
  if (!impl) {
    return;
  }
  const at::Tensor tensor(impl);
  if (hook->position) {
    tensor.remove_hook(*hook->position);
  } else {
    post_accumulate_hooks(tensor).take(id);
  }
}

}  // namespace simple_torch::core
