// One owned DLPack tensor.
#pragma once

#include <ATen/dlpack.h>

#include <utility>

namespace simple_torch::dlpack {

/// Owns a DLPack tensor until release(); calls its deleter exactly once.
///
/// One pointer wide, so that a handle can hold it. A tensor of the older, unversioned protocol is wrapped in
/// a versioned structure without flags.
class Managed {
 public:
  Managed() noexcept = default;
  explicit Managed(DLManagedTensorVersioned* owned) noexcept : tensor_(owned) {}
  /// Owns the tensor even if it throws std::bad_alloc. NULL makes an empty one.
  explicit Managed(DLManagedTensor* owned);
  Managed(Managed&& other) noexcept : tensor_(std::exchange(other.tensor_, nullptr)) {}
  Managed& operator=(Managed&& other) noexcept {
    std::swap(tensor_, other.tensor_);
    return *this;
  }
  ~Managed() {
    if (tensor_ != nullptr && tensor_->deleter != nullptr) {
      tensor_->deleter(tensor_);
    }
  }

  const DLManagedTensorVersioned* get() const noexcept { return tensor_; }

  /// Transfers the ownership to the caller, who calls the deleter.
  DLManagedTensorVersioned* release() noexcept { return std::exchange(tensor_, nullptr); }

  /// For a consumer that sets the pointer to NULL when it takes the ownership.
  DLManagedTensorVersioned** receiver() noexcept { return &tensor_; }

 private:
  DLManagedTensorVersioned* tensor_ = nullptr;
};

}  // namespace simple_torch::dlpack
