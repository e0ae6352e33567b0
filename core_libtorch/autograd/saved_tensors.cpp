#include "core_libtorch/autograd/saved_tensors.h"

#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <optional>
#include <utility>
#include <vector>

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

thread_local std::vector<std::shared_ptr<SavedTensorHooks>> saved_tensor_hooks;

}  // namespace

void push_saved_tensor_hooks(std::shared_ptr<SavedTensorHooks> hooks) {
  saved_tensor_hooks.push_back(std::move(hooks));
}

std::shared_ptr<SavedTensorHooks> pop_saved_tensor_hooks() {
  if (saved_tensor_hooks.empty()) {
    return nullptr;
  }
  std::shared_ptr<SavedTensorHooks> ended = std::move(saved_tensor_hooks.back());
  saved_tensor_hooks.pop_back();
  return ended;
}

std::unique_ptr<torch::autograd::SavedVariableHooks> hooks_for_saved_tensor() {
  return saved_tensor_hooks.empty() ? nullptr : std::make_unique<SavedTensor>(saved_tensor_hooks.back());
}

}  // namespace simple_torch::core
