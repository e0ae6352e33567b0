// Functions of the program that LibTorch's engine calls, by their keys.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "abi/backend/guarded.h"
#include "abi/backend/tensor_arguments.h"
#include "core_libtorch/autograd/callback.h"
#include "simple_torch/c_api.h"

namespace simple_torch::abi {

/// The program hears, once, when nobody needs what the key stands for any more.
class Key {
 public:
  Key(int64_t key, SptAutogradEnd ended) : key_(key), ended_(ended) {}
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;
  ~Key() { ended_(key_); }
  int64_t value() const noexcept { return key_; }

 private:
  int64_t key_;
  SptAutogradEnd ended_;
};

/// What a callback gave; throws what it failed with where that is 0.
inline int64_t unless_failed(int64_t given, const std::string& who) {
  if (given == 0) {
    core::throw_callback_failure(who);
  }
  return given;
}

/// An undefined tensor for each 0.
inline std::vector<at::Tensor> optional_tensor_list(const int64_t* items, int64_t size, const char* name) {
  std::vector<at::Tensor> tensors;
  for (const int64_t handle : list_argument(items, size, name)) {
    tensors.push_back(handle == 0 ? at::Tensor() : *tensor_argument(handle));
  }
  return tensors;
}

/// The tensor of a handle that a callback gave, which ends here.
inline at::Tensor taken_tensor(int64_t handle) { return handles().take<at::Tensor>(handle); }

}  // namespace simple_torch::abi
