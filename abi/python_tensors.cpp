// Letting go of tensors that have a Python object, without waiting for the GIL.
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/util/intrusive_ptr.h>

#include "abi/python_library.h"
#include "abi/tensor_arguments.h"

namespace simple_torch::abi {
namespace {

using Owner = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

/// The tensor's Python object holds one reference to it and LibTorch drops that object, under the GIL, when
/// ours is the last one beside it. With more references left, dropping ours is a mere decrement.
bool may_want_gil(const at::Tensor& tensor) {
  return tensor.defined() && tensor.use_count() <= 2 &&
         tensor.unsafeGetTensorImpl()->pyobj_slot()->load_pyobj() != nullptr;
}

}  // namespace

void HandleKindOf<at::Tensor>::let_go(at::Tensor& tensor) noexcept {
  const bridge::BridgeApi* python = opened_python();
  if (python != nullptr && may_want_gil(tensor)) {
    python->defer_memory([](void* impl) { Owner::reclaim(static_cast<c10::TensorImpl*>(impl)); },
                         tensor.unsafeReleaseTensorImpl());
  }
}

}  // namespace simple_torch::abi
