// Options, then the shortest way in: tensors of torch's or ours need no structure between.
#include "bridge/tensors/from_dlpack.h"

#include <utility>

#include "bridge/tensors/dlpack_import.h"
#include "bridge/tensors/streams.h"
#include "bridge/tensors/tensor_type.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

/// The options of one call, and where the device lies that `wanted` points to.
struct Options {
  Wanted wanted;
  DLDevice device{};
};

/// False with an exception pending for what is no device of torch's.
bool read_device(PyObject* given, Options& options) {
  const Ref text(given == Py_None ? nullptr : PyObject_Str(given));
  if (given == Py_None) {
    return true;
  }
  const char* name = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  try {
    if (name != nullptr) {
      options.device = dlpack_number_of(c10::Device(name));
      options.wanted.device = &options.device;
    }
  } catch (const c10::Error& error) {
    PyErr_SetString(PyExc_BufferError, error.what_without_backtrace());
  }
  return options.wanted.device != nullptr;
}

bool read_copy(PyObject* given, Options& options) {
  const int copy = given == Py_None ? 0 : PyObject_IsTrue(given);
  if (given != Py_None) {
    options.wanted.copy = copy == 1 ? CopyRule::kAlways : CopyRule::kNever;
  }
  return copy >= 0;
}

/// False with an exception pending.
bool read_options(PyObject* const* values, Py_ssize_t count, PyObject* names, Options& options) {
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  bool is_known = count == 1;
  for (Py_ssize_t i = 0; is_known && i < named; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    PyObject* value = values[count + i];
    if (PyUnicode_CompareWithASCIIString(name, "copy") == 0) {
      if (!read_copy(value, options)) {
        return false;
      }
    } else if (PyUnicode_CompareWithASCIIString(name, "device") == 0) {
      if (!read_device(value, options)) {
        return false;
      }
    } else {
      is_known = false;
    }
  }
  if (!is_known) {
    PyErr_SetString(
        PyExc_TypeError,
        "from_dlpack(x, *, device=None, copy=None) takes one object, where it is wanted, and whether to "
        "copy");
  }
  return is_known;
}

/// Of a tensor of torch's or ours, which needs no structure between.
bool share(const at::Tensor& tensor, const Wanted& wanted, at::Tensor& out) {
  const DLDevice here = device_of(tensor);
  if (wanted.device != nullptr &&
      (here.device_type != wanted.device->device_type || here.device_id != wanted.device->device_id)) {
    PyErr_Format(PyExc_BufferError,
                 "the tensor is on %s, and not on the device that is wanted; move it there before",
                 tensor.device().str().c_str());
    return false;
  }
  Refusal refusal;
  const bool is_shared = backend_services().share(tensor, wanted.copy, out, refusal);
  if (!is_shared) {
    raise_refusal(refusal);
  }
  return is_shared;
}

bool take(PyObject* object, const Wanted& wanted, at::Tensor& out) {
  if (const at::Tensor* own = unwrap_tensor(object)) {
    return is_still_here(*own) && share(*own, wanted, out);
  }
  if (is_torch_tensor(object)) {
    return share(torch_tensor_in(object), wanted, out);
  }
  TensorResult given{.tensor = &out};
  if (!take_foreign_tensor(object, wanted, given)) {
    return false;
  }
  if (given.versioned == nullptr) {
    return wanted.copy != CopyRule::kAlways || share(out, wanted, out);
  }
  Refusal refusal;
  const bool taken = backend_services().take(given.versioned, wanted.copy, out, refusal);
  if (!taken) {
    raise_refusal(refusal);
  }
  return taken;
}

}  // namespace

PyObject* from_dlpack(PyObject* /*module*/, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  Options options;
  at::Tensor tensor;
  return read_options(values, count, names, options) && take(values[0], options.wanted, tensor)
             ? wrap_tensor(std::move(tensor))
             : nullptr;
}

}  // namespace simple_torch::bridge
