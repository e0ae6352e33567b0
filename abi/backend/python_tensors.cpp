// Release of tensors that have a Python object, without waiting for the GIL.
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <array>
#include <atomic>
#include <utility>

#include "abi/backend/python_arguments.h"
#include "abi/backend/python_library.h"
#include "abi/backend/tensor_arguments.h"

namespace simple_torch::abi {
namespace {

using Owner = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

/// A flag for the tensor, so that one thread at a time checks and drops a reference: of two threads that drop
/// the last two at once, each would rely on the other's. A thread that finds the flag set does not wait.
std::atomic_flag& release_flag_of(const c10::TensorImpl* impl) {
  static std::array<std::atomic_flag, 64> flags;
  return flags[(reinterpret_cast<uintptr_t>(impl) / sizeof(c10::TensorImpl)) % flags.size()];
}

/// Drops the reference if that does not need the GIL, and returns whether it did. The Python object holds one
/// reference; LibTorch releases the object under the GIL when ours is the only other one. With more
/// references, the drop is a plain decrement.
bool drop_without_gil(at::Tensor& tensor) {
  if (!tensor.defined() || tensor.unsafeGetTensorImpl()->pyobj_slot()->load_pyobj() == nullptr) {
    tensor.reset();
    return true;
  }
  std::atomic_flag& busy = release_flag_of(tensor.unsafeGetTensorImpl());
  if (busy.test_and_set(std::memory_order_acquire)) {
    return false;
  }
  const bool has_others = tensor.use_count() > 2;
  if (has_others) {
    tensor.reset();
  }
  busy.clear(std::memory_order_release);
  return has_others;
}

}  // namespace

void PythonRef::release_tensor() noexcept {
  at::Tensor tensor = bridge::release_tensor(release());
  HandleKindOf<at::Tensor>::release(tensor);
}

void HandleKindOf<at::Tensor>::release(at::Tensor& tensor) noexcept {
  const bridge::BridgeApi* python = opened_python();
  if (python != nullptr && !drop_without_gil(tensor)) {
    python->queue_memory_release([](void* impl) { Owner::reclaim(static_cast<c10::TensorImpl*>(impl)); },
                                 tensor.unsafeReleaseTensorImpl());
  }
}

}  // namespace simple_torch::abi
