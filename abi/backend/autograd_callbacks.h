// Callbacks of the program that LibTorch's engine calls, identified by keys.
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

/// Owns a key of the program, and notifies the program when the key is no longer used.
class Key {
 public:
  Key(int64_t key, SptAutogradEnd on_release) : key_(key), on_release_(on_release) {}
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;
  ~Key() { on_release_(key_); }
  int64_t value() const noexcept { return key_; }

 private:
  int64_t key_;
  SptAutogradEnd on_release_;
};

/// Returns the result of a callback; throws the callback's error if the result is 0.
inline int64_t checked_result(int64_t result, const std::string& callback) {
  if (result == 0) {
    core::throw_callback_failure(callback);
  }
  return result;
}

/// An undefined tensor for each 0.
inline std::vector<at::Tensor> optional_tensor_list(const int64_t* items, int64_t size, const char* name) {
  std::vector<at::Tensor> tensors;
  for (const int64_t handle : list_argument(items, size, name)) {
    tensors.push_back(handle == 0 ? at::Tensor() : *tensor_argument(handle));
  }
  return tensors;
}

/// Takes the tensor out of a handle that a callback returned.
inline at::Tensor take_tensor(int64_t handle) { return handles().take<at::Tensor>(handle); }

}  // namespace simple_torch::abi
