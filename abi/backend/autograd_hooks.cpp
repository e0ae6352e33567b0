// Bodies of hooks: callbacks of the program on gradients and on saved tensors.
#include "core_libtorch/autograd/hooks.h"

#include <memory>

#include "abi/backend/autograd_callbacks.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/autograd/engine.h"
#include "core_libtorch/error_context.h"

namespace simple_torch::abi {
namespace {

constexpr int64_t kUnchanged = -1;

class CallbackHook : public core::GradientHook {
 public:
  CallbackHook(int64_t key, SptAutogradCall hook, SptAutogradEnd on_release)
      : key_(key, on_release), hook_(hook) {}

  at::Tensor run(const at::Tensor& tensor) override {
    const int64_t result = checked_result(hook_(key_.value(), handles().insert(tensor)), "a hook");
    return result == kUnchanged ? at::Tensor() : take_tensor(result);
  }

 private:
  Key key_;
  SptAutogradCall hook_;
};

class CallbackSavedTensorHooks : public core::SavedTensorHooks {
 public:
  CallbackSavedTensorHooks(int64_t key, SptAutogradCall packs, SptAutogradCall unpacks,
                           SptAutogradEnd on_drop, SptAutogradEnd on_release)
      : key_(key, on_release), pack_(packs), unpack_(unpacks), dropped_(on_drop) {}

  int64_t pack(const at::Tensor& tensor) override {
    return checked_result(pack_(key_.value(), handles().insert(tensor)), "a pack hook");
  }
  at::Tensor unpack(int64_t packed) override {
    return take_tensor(checked_result(unpack_(key_.value(), packed), "an unpack hook"));
  }
  void drop(int64_t packed) noexcept override { dropped_(packed); }

 private:
  Key key_;
  SptAutogradCall pack_;
  SptAutogradCall unpack_;
  SptAutogradEnd dropped_;
};

template <class Register>
int32_t registered(int64_t a, int64_t key, SptAutogradCall hook, SptAutogradEnd on_release, int64_t* out,
                   Register&& register_it) {
  return guarded([&] {
    require(out, "out");
    require(hook, "hook");
    require(on_release, "on_release");
    const auto tensor = tensor_argument(a);
    *out = core::with_error_context("register_hook", {&*tensor}, [&] {
      return register_it(*tensor, std::make_shared<CallbackHook>(key, hook, on_release));
    });
  });
}

}  // namespace

namespace body {

int32_t register_hook(int64_t a, int64_t key, SptAutogradCall hook, SptAutogradEnd on_release, int64_t* out) {
  return registered(a, key, hook, on_release, out, core::register_hook);
}

int32_t register_post_accumulate_grad_hook(int64_t a, int64_t key, SptAutogradCall hook,
                                           SptAutogradEnd on_release, int64_t* out) {
  return registered(a, key, hook, on_release, out, core::register_post_accumulate_grad_hook);
}

int32_t remove_hook(int64_t hook_id) {
  return guarded([&] { core::remove_hook(hook_id); });
}

int32_t saved_tensors_hooks_begin(int64_t key, SptAutogradCall pack, SptAutogradCall unpack,
                                  SptAutogradEnd on_drop, SptAutogradEnd on_release) {
  return guarded([&] {
    require(pack, "pack");
    require(unpack, "unpack");
    require(on_drop, "on_drop");
    require(on_release, "on_release");
    core::begin_saved_tensor_hooks(
        std::make_shared<CallbackSavedTensorHooks>(key, pack, unpack, on_drop, on_release));
  });
}

int32_t saved_tensors_hooks_disable(const char* message) {
  return guarded([&] {
    require(message, "message");
    core::disable_saved_tensor_hooks(message);
  });
}

int32_t saved_tensors_hooks_enable() { return guarded(core::enable_saved_tensor_hooks); }

int32_t saved_tensors_hooks_end() { return guarded(core::end_saved_tensor_hooks); }

}  // namespace body
}  // namespace simple_torch::abi
