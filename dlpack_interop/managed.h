// One owned DLPack tensor.
#pragma once

#include <ATen/dlpack.h>

#include <utility>

namespace simple_torch::dlpack {

/// Owns a DLPack tensor until it is given away: its deleter is called exactly once.
///
/// One pointer wide, so that a handle can hold it. A tensor of the older, unversioned protocol is kept
/// behind a versioned structure with no flags.
class Managed {
 public:
  Managed() noexcept = default;
  explicit Managed(DLManagedTensorVersioned* owned) noexcept : tensor_(owned) {}
  /// Takes the tensor over also when it throws std::bad_alloc. NULL makes an empty one.
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

  /// Gives the tensor away; the receiver calls its deleter.
  DLManagedTensorVersioned* release() noexcept { return std::exchange(tensor_, nullptr); }

  /// Where a receiver takes the tensor by setting the pointer to NULL.
  DLManagedTensorVersioned** receiver() noexcept { return &tensor_; }

 private:
  DLManagedTensorVersioned* tensor_ = nullptr;
};

}  // namespace simple_torch::dlpack
