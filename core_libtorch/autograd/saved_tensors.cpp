#include "core_libtorch/autograd/saved_tensors.h"

#include <ATen/SavedTensorHooks.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <optional>
#include <utility>
#include <vector>

#include "core_libtorch/error.h"
#include "core_libtorch/thread_object.h"

namespace simple_torch::core {
namespace {

class SavedTensor : public torch::autograd::SavedVariableHooks {
 public:
  explicit SavedTensor(std::shared_ptr<SavedTensorHooks> hooks) : hooks_(std::move(hooks)) {}
  SavedTensor(const SavedTensor&) = delete;
  SavedTensor& operator=(const SavedTensor&) = delete;
  ~SavedTensor() override {
    if (packed_) {
      hooks_->drop(*packed_);
    }
  }
  void call_pack_hook(const at::Tensor& tensor) override { packed_ = hooks_->pack(tensor); }
  at::Tensor call_unpack_hook() override { return hooks_->unpack(packed_.value()); }

 private:
  std::shared_ptr<SavedTensorHooks> hooks_;
  std::optional<int64_t> packed_;
};

using HookStack = std::vector<std::shared_ptr<SavedTensorHooks>>;
HookStack& saved_tensor_hooks() { return thread_object<HookStack, SavedTensorHooks>(); }

// LibTorch's message before each disable call.
using Messages = std::vector<std::optional<std::string>>;
Messages& before_disabling() { return thread_object<Messages, struct MessagesBeforeDisabling>(); }

}  // namespace

void push_saved_tensor_hooks(std::shared_ptr<SavedTensorHooks> hooks) {
  saved_tensor_hooks().push_back(std::move(hooks));
}

std::shared_ptr<SavedTensorHooks> pop_saved_tensor_hooks() {
  if (saved_tensor_hooks().empty()) {
    return nullptr;
  }
  std::shared_ptr<SavedTensorHooks> popped = std::move(saved_tensor_hooks().back());
  saved_tensor_hooks().pop_back();
  return popped;
}

void disable_saved_tensor_hooks(const std::string& message) {
  if (!saved_tensor_hooks().empty()) {
    throw Error(ErrorKind::kInvalidArgument, message);
  }
  const std::optional<std::string> before = at::SavedTensorDefaultHooks::get_disabled_error_message();
  at::SavedTensorDefaultHooks::disable(message);
  before_disabling().push_back(before);
}

void enable_saved_tensor_hooks() {
  if (before_disabling().empty()) {
    throw Error(ErrorKind::kInvalidArgument,
                "enable_saved_tensor_hooks: this thread has not disabled hooks on saved tensors");
  }
  const std::optional<std::string> before = std::move(before_disabling().back());
  before_disabling().pop_back();
  if (before) {
    at::SavedTensorDefaultHooks::disable(*before);
  } else {
    at::SavedTensorDefaultHooks::enable();
  }
}

void require_saved_tensor_hooks() {
  if (const auto& message = at::SavedTensorDefaultHooks::get_disabled_error_message()) {
    throw Error(ErrorKind::kInvalidArgument, *message);
  }
}

std::unique_ptr<torch::autograd::SavedVariableHooks> hooks_for_saved_tensor() {
  return saved_tensor_hooks().empty() ? nullptr : std::make_unique<SavedTensor>(saved_tensor_hooks().back());
}

}  // namespace simple_torch::core
