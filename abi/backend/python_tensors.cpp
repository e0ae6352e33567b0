// Letting go of tensors that have a Python object, without waiting for the GIL.
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

/// Of several threads that let go of one tensor at the same time, each would count on the other's reference.
/// Who does not get it does not wait.
std::atomic_flag& letting_go_of(const c10::TensorImpl* impl) {
  static std::array<std::atomic_flag, 64> flags;
  return flags[(reinterpret_cast<uintptr_t>(impl) / sizeof(c10::TensorImpl)) % flags.size()];
}

/// The tensor's Python object holds one reference to it and LibTorch drops that object, under the GIL, when
/// ours is the last one beside it. With more references left, dropping ours is a mere decrement, which is
/// done then. Else the tensor stays as it is.
bool dropped_without_gil(at::Tensor& tensor) {
  if (!tensor.defined() || tensor.unsafeGetTensorImpl()->pyobj_slot()->load_pyobj() == nullptr) {
    tensor.reset();
    return true;
  }
  std::atomic_flag& busy = letting_go_of(tensor.unsafeGetTensorImpl());
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

void PythonRef::let_go_of_tensor() noexcept {
  at::Tensor tensor = bridge::release_tensor(give());
  HandleKindOf<at::Tensor>::release(tensor);
}

void HandleKindOf<at::Tensor>::release(at::Tensor& tensor) noexcept {
  const bridge::BridgeApi* python = opened_python();
  if (python != nullptr && !dropped_without_gil(tensor)) {
    python->queue_memory_release([](void* impl) { Owner::reclaim(static_cast<c10::TensorImpl*>(impl)); },
                         tensor.unsafeReleaseTensorImpl());
  }
}

}  // namespace simple_torch::abi
