// DLPack's functions on our own type. They are called with the GIL, and do not order streams.
#include "bridge/tensors/tensor_exchange_api.h"

#include <ATen/dlpack.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "bridge/objects/errors.h"
#include "bridge/objects/exception_types.h"
#include "bridge/runtime/pending_release.h"
#include "bridge/tensors/streams.h"
#include "bridge/tensors/tensor_type.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

const at::Tensor* tensor_or_raise(void* object) {
  auto* python = static_cast<PyObject*>(object);
  const at::Tensor* tensor = unwrap_tensor(python);
  if (tensor == nullptr) {
    PyErr_Format(PyExc_TypeError, "a simple_torch.Tensor is needed, and this is a %s",
                 Py_TYPE(python)->tp_name);
    return nullptr;
  }
  return is_still_here(*tensor) ? tensor : nullptr;
}

int from_object(void* object, DLManagedTensorVersioned** out) {
  const at::Tensor* tensor = tensor_or_raise(object);
  Refusal refusal;
  if (tensor == nullptr) {
    return -1;
  }
  if (!backend_services().lend(*tensor, false, out, refusal)) {
    raise_refusal(refusal);
    return -1;
  }
  return 0;
}

int to_object(DLManagedTensorVersioned* managed, void** out) {
  make_room_in_deferred_memory();
  DLManagedTensorVersioned* taken = managed == nullptr ? nullptr : with_deferred_deleter(managed);
  if (managed != nullptr && taken == nullptr) {
    return -1;
  }
  at::Tensor tensor;
  Refusal refusal;
  if (!backend_services().take(taken, CopyRule::kIfNeeded, tensor, refusal)) {
    raise_refusal(refusal);
    return -1;
  }
  *out = wrap_tensor(std::move(tensor));
  return *out == nullptr ? -1 : 0;
}

/// The tensor's own shape and strides, which live as long as the object and are not resized meanwhile. Of
/// memory that may be written: the structure has no flags.
int borrow(void* object, DLTensor* out) {
  DLManagedTensorVersioned* lent = nullptr;
  if (from_object(object, &lent) != 0) {
    return -1;
  }
  const at::Tensor& tensor = *unwrap_tensor(static_cast<PyObject*>(object));
  if ((lent->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
    lent->deleter(lent);
    PyErr_SetString(PyExc_BufferError,
                    "the tensor is read-only, which a borrowed DLTensor cannot say; give a clone()");
    return -1;
  }
  *out = lent->dl_tensor;
  out->shape = const_cast<int64_t*>(tensor.sizes().data());
  out->strides = const_cast<int64_t*>(tensor.strides().data());
  lent->deleter(lent);
  return 0;
}

/// NULL where it can be the shape of a tensor.
const char* fault_of_shape(const DLTensor& like) {
  constexpr int kMostDims = 64;  // what torch's kernels take
  if (like.ndim < 0 || like.ndim > kMostDims) {
    return "ndim of the prototype is not between 0 and 64";
  }
  if (like.ndim > 0 && like.shape == nullptr) {
    return "shape of the prototype is NULL";
  }
  int64_t bytes = 16;  // of the largest item
  for (int i = 0; i < like.ndim; ++i) {
    if (like.shape[i] < 0) {
      return "shape of the prototype has a negative number";
    }
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(like.shape[i], 1), &bytes)) {
      return "shape of the prototype has more elements than 63 bits count in bytes";
    }
  }
  return nullptr;
}

/// Tells who knows no Python what failed: Python code below LibTorch, or else what `message` says.
void tell(void* context, void (*set_error)(void*, const char*, const char*), const char* kind,
          const char* message) {
  if (const Ref below = take_exception()) {
    set_error(context, Py_TYPE(below.get())->tp_name, text_of(below.get()).c_str());
  } else {
    set_error(context, kind, message);
  }
}

int allocate(DLTensor* like, DLManagedTensorVersioned** out, void* context,
             void (*set_error)(void*, const char*, const char*)) {
  // A tensor over no memory tells by the usual checks what dtype, device and shape it is to have.
  DLManagedTensorVersioned wanted{};
  wanted.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  wanted.dl_tensor = *like;
  int64_t none = 0;
  wanted.dl_tensor.ndim = 1;
  wanted.dl_tensor.shape = &none;
  wanted.dl_tensor.strides = nullptr;
  at::Tensor kind;
  Refusal refusal;
  if (!backend_services().take(&wanted, CopyRule::kIfNeeded, kind, refusal)) {
    set_error(context, "BufferError", refusal.message);
    return -1;
  }
  if (const char* fault = fault_of_shape(*like)) {
    set_error(context, "BufferError", fault);
    return -1;
  }
  try {
    const at::IntArrayRef shape(like->shape, static_cast<size_t>(like->ndim));
    if (backend_services().lend(at::empty(shape, kind.options()), false, out, refusal)) {
      return 0;
    }
    tell(context, set_error, "BufferError", refusal.message);
  } catch (const c10::Error& error) {
    tell(context, set_error, "MemoryError", error.what_without_backtrace());
  } catch (const std::exception& error) {
    tell(context, set_error, "MemoryError", error.what());
  }
  return -1;
}

int current_work_stream(DLDeviceType device, int32_t index, void** out) {
  *out = nullptr;
  if (device == kDLCPU || device == kDLCUDAHost) {
    return 0;
  }
  if (device != kDLCUDA && device != kDLCUDAManaged && device != kDLROCM) {
    PyErr_Format(PyExc_BufferError, "device type %d has no streams here", static_cast<int>(device));
    return -1;
  }
  return find_current_stream(index, out) ? 0 : -1;
}

}  // namespace

PyObject* own_exchange_table() {
  static DLPackExchangeAPI table{{{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, nullptr},
                                 allocate,
                                 from_object,
                                 to_object,
                                 borrow,
                                 current_work_stream};
  return PyCapsule_New(&table, "dlpack_exchange_api", nullptr);
}

}  // namespace simple_torch::bridge
