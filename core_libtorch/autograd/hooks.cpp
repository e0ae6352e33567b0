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

/// Where a hook sits, so that it can be taken away without keeping its tensor alive.
struct Seat {
  WeakTensor tensor;
  std::optional<unsigned> position;  // of a hook on the gradient; none: after accumulation
};

IdRegistry<Seat>& seats() {
  static auto* const all = new IdRegistry<Seat>;  // used by threads that may outlive main
  return *all;
}

/// A hook that gives up its number when it dies.
class Seated {
 public:
  Seated(std::shared_ptr<GradientHook> hook, int64_t number) : hook_(std::move(hook)), number_(number) {}
  Seated(const Seated&) = delete;
  Seated& operator=(const Seated&) = delete;
  ~Seated() { seats().take(number_); }
  at::Tensor run(const at::Tensor& tensor) const { return hook_->run(tensor); }

 private:
  std::shared_ptr<GradientHook> hook_;
  int64_t number_;
};

/// All hooks of one leaf, after those that somebody else had put there.
class AfterAccumulation : public torch::autograd::PostAccumulateGradHook {
 public:
  explicit AfterAccumulation(std::unique_ptr<PostAccumulateGradHook> others) : others_(std::move(others)) {}

  void operator()(const at::Tensor& tensor) override {
    if (others_ != nullptr) {
      (*others_)(tensor);
    }
    const auto running = hooks_;  // one may remove itself
    for (const auto& [number, hook] : running) {
      hook->run(tensor);
    }
  }
  void add(int64_t number, std::shared_ptr<Seated> hook) { hooks_.emplace(number, std::move(hook)); }
  std::shared_ptr<Seated> take(int64_t number) {
    auto node = hooks_.extract(number);
    return node.empty() ? nullptr : std::move(node.mapped());
  }

 private:
  std::unique_ptr<PostAccumulateGradHook> others_;
  std::map<int64_t, std::shared_ptr<Seated>> hooks_;
};

AfterAccumulation& after_accumulation(const at::Tensor& tensor) {
  auto present = std::move(torch::autograd::impl::post_acc_grad_hooks(tensor));
  auto* ours = dynamic_cast<AfterAccumulation*>(present.get());
  if (ours == nullptr) {
    auto made = std::make_unique<AfterAccumulation>(std::move(present));
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
  const int64_t number = seats().add({WeakTensor(tensor.getIntrusivePtr()), std::nullopt});
  const auto seated = std::make_shared<const Seated>(std::move(hook), number);
  const unsigned position = tensor.register_hook([seated](const at::Tensor& gradient) {
    // It may remove itself, and this function with it.
    const auto running = seated;  // NOLINT(performance-unnecessary-copy-initialization)
    return running->run(gradient);
  });
  seats().change(number, [&](Seat& seat) { seat.position = position; });
  return number;
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
  const int64_t number = seats().add({WeakTensor(tensor.getIntrusivePtr()), std::nullopt});
  after_accumulation(tensor).add(number, std::make_shared<Seated>(std::move(hook), number));
  return number;
}

void remove_hook(int64_t number) {
  std::optional<Seat> seat = seats().take(number);
  if (!seat) {
    return;
  }
  const auto impl = seat->tensor.lock();
  if (!impl) {
    return;
  }
  const at::Tensor tensor(impl);
  if (seat->position) {
    tensor.remove_hook(*seat->position);
  } else {
    after_accumulation(tensor).take(number);
  }
}

}  // namespace simple_torch::core
