// DLPack's exchange functions for simple_torch.Tensor. Callers hold the GIL; streams are not ordered.
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
    PyErr_Format(PyExc_TypeError, "expected simple_torch.Tensor, got %s", Py_TYPE(python)->tp_name);
    return nullptr;
  }
  return check_not_moved(*tensor) ? tensor : nullptr;
}

int from_object(void* object, DLManagedTensorVersioned** out) {
  const at::Tensor* tensor = tensor_or_raise(object);
  ServiceError error;
  if (tensor == nullptr) {
    return -1;
  }
  if (!backend_services().export_tensor(*tensor, false, out, error)) {
    raise_buffer_error(error);
    return -1;
  }
  return 0;
}

int to_object(DLManagedTensorVersioned* managed, void** out) {
  drain_memory_before_import();
  DLManagedTensorVersioned* imported = managed == nullptr ? nullptr : with_queued_deleter(managed);
  if (managed != nullptr && imported == nullptr) {
    return -1;
  }
  at::Tensor tensor;
  if (!import_struct(imported, CopyRule::kIfNeeded, tensor)) {
    return -1;
  }
  *out = wrap_tensor(std::move(tensor));
  return *out == nullptr ? -1 : 0;
}

/// Borrows shape and strides of the tensor, which live as long as the object is not resized. Writable memory
/// only, because DLTensor has no flags.
int borrow(void* object, DLTensor* out) {
  DLManagedTensorVersioned* exported = nullptr;
  if (from_object(object, &exported) != 0) {
    return -1;
  }
  const at::Tensor& tensor = *unwrap_tensor(static_cast<PyObject*>(object));
  if ((exported->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
    exported->deleter(exported);
    PyErr_SetString(
        PyExc_BufferError,
        "cannot export a read-only tensor as a borrowed DLTensor, which has no flags; pass a clone()");
    return -1;
  }
  *out = exported->dl_tensor;
  out->shape = const_cast<int64_t*>(tensor.sizes().data());
  out->strides = const_cast<int64_t*>(tensor.strides().data());
  exported->deleter(exported);
  return 0;
}

/// NULL when the shape is valid for a tensor.
const char* shape_error(const DLTensor& like) {
  constexpr int kMaxKernelDims = 64;  // the limit of torch's kernels
  if (like.ndim < 0 || like.ndim > kMaxKernelDims) {
    return "prototype: ndim must be between 0 and 64";
  }
  if (like.ndim > 0 && like.shape == nullptr) {
    return "prototype: shape is NULL";
  }
  int64_t bytes = 16;  // of the largest item
  for (int i = 0; i < like.ndim; ++i) {
    if (like.shape[i] < 0) {
      return "prototype: shape must be non-negative";
    }
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(like.shape[i], 1), &bytes)) {
      return "prototype: size in bytes overflows a 63-bit integer";
    }
  }
  return nullptr;
}

/// Reports an error to a C caller: the exception of Python code below LibTorch if one is set, else `message`.
void report_error(void* context, void (*set_error)(void*, const char*, const char*), const char* kind,
                  const char* message) {
  if (const Ref exception = take_exception()) {
    set_error(context, Py_TYPE(exception.get())->tp_name, text_of(exception.get()).c_str());
  } else {
    set_error(context, kind, message);
  }
}

int allocate(DLTensor* like, DLManagedTensorVersioned** out, void* context,
             void (*set_error)(void*, const char*, const char*)) {
  // An empty tensor runs the usual checks of dtype and device.
  DLManagedTensorVersioned prototype{};
  prototype.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  prototype.dl_tensor = *like;
  int64_t zero = 0;
  prototype.dl_tensor.ndim = 1;
  prototype.dl_tensor.shape = &zero;
  prototype.dl_tensor.strides = nullptr;
  at::Tensor empty;
  ServiceError error;
  if (!backend_services().import_tensor(&prototype, CopyRule::kIfNeeded, empty, error)) {
    set_error(context, "BufferError", error.message);
    return -1;
  }
  if (const char* reason = shape_error(*like)) {
    set_error(context, "BufferError", reason);
    return -1;
  }
  try {
    const at::IntArrayRef shape(like->shape, static_cast<size_t>(like->ndim));
    if (backend_services().export_tensor(at::empty(shape, empty.options()), false, out, error)) {
      return 0;
    }
    report_error(context, set_error, "BufferError", error.message);
  } catch (const c10::Error& e) {
    report_error(context, set_error, "MemoryError", e.what_without_backtrace());
  } catch (const std::exception& e) {
    report_error(context, set_error, "MemoryError", e.what());
  }
  return -1;
}

int current_work_stream(DLDeviceType device, int32_t index, void** out) {
  *out = nullptr;
  if (device == kDLCPU || device == kDLCUDAHost) {
    return 0;
  }
  if (device != kDLCUDA && device != kDLCUDAManaged && device != kDLROCM) {
    PyErr_Format(PyExc_BufferError, "device type %d has no streams", static_cast<int>(device));
    return -1;
  }
  return find_current_stream(index, out) ? 0 : -1;
}

}  // namespace

PyObject* make_exchange_capsule() {
  static DLPackExchangeAPI table{{{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, nullptr},
                                 allocate,
                                 from_object,
                                 to_object,
                                 borrow,
                                 current_work_stream};
  return PyCapsule_New(&table, "dlpack_exchange_api", nullptr);
}

}  // namespace simple_torch::bridge
