// Parses the options, then imports by the shortest path: torch and simple_torch tensors need no DLPack
// struct.
#include "bridge/tensors/from_dlpack.h"

#include <utility>

#include "bridge/tensors/dlpack_import.h"
#include "bridge/tensors/streams.h"
#include "bridge/tensors/tensor_type.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

/// The options of one call, and storage for the device that `import` points to.
struct FromDlpackOptions {
  ImportOptions import;
  DLDevice device{};
};

/// False with an exception set when `value` is not a torch device.
bool read_device(PyObject* value, FromDlpackOptions& options) {
  const Ref text(value == Py_None ? nullptr : PyObject_Str(value));
  if (value == Py_None) {
    return true;
  }
  const char* name = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  try {
    const c10::Device device(name == nullptr ? "cpu" : name);
    if (name != nullptr && !device.is_cpu() && !device.is_cuda()) {
      PyErr_Format(PyExc_BufferError, "from_dlpack: device must be a CPU or a CUDA device, got %s", name);
    } else if (name != nullptr) {
      options.device = dlpack_number_of(device);
      options.import.device = &options.device;
    }
  } catch (const c10::Error& error) {
    PyErr_SetString(PyExc_BufferError, error.what_without_backtrace());
  }
  return options.import.device != nullptr;
}

bool read_copy(PyObject* value, FromDlpackOptions& options) {
  const int copy = value == Py_None ? 0 : PyObject_IsTrue(value);
  if (value != Py_None) {
    options.import.copy = copy == 1 ? CopyRule::kAlways : CopyRule::kNever;
  }
  return copy >= 0;
}

/// False with an exception set.
bool read_options(PyObject* const* values, Py_ssize_t count, PyObject* names, FromDlpackOptions& options) {
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
        "from_dlpack() takes one positional argument and the keyword arguments 'device' and 'copy'");
  }
  return is_known;
}

/// Shares a torch or simple_torch tensor without a DLPack struct.
bool share(const at::Tensor& tensor, const ImportOptions& options, at::Tensor& out) {
  const DLDevice device = dlpack_device_of(tensor);
  if (options.device != nullptr &&
      (device.device_type != options.device->device_type || device.device_id != options.device->device_id)) {
    PyErr_Format(PyExc_BufferError,
                 "the tensor is on device %s, not on the requested device; move it there first",
                 tensor.device().str().c_str());
    return false;
  }
  ServiceError error;
  const bool is_shared = backend_services().share(tensor, options.copy, out, error);
  if (!is_shared) {
    raise_buffer_error(error);
  }
  return is_shared;
}

bool import_object(PyObject* object, const ImportOptions& options, at::Tensor& out) {
  // A copy may run Python code of a mode, which may move the tensor out of its object.
  if (const at::Tensor* own = unwrap_tensor(object)) {
    const at::Tensor held = *own;
    return check_not_moved(held) && share(held, options, out);
  }
  if (is_torch_tensor(object)) {
    const at::Tensor& tensor = torch_tensor_in(object);
    if (options.copy != CopyRule::kAlways) {
      return share(tensor, options, out);  // a second owner of a torch.Tensor would cost a third of this call
    }
    const at::Tensor held = tensor;
    return share(held, options, out);
  }
  TensorResult result{.tensor = &out};
  if (!import_foreign_tensor(object, options, result)) {
    return false;
  }
  if (result.versioned == nullptr) {
    return options.copy != CopyRule::kAlways || share(out, options, out);
  }
  return import_struct(result.versioned, options.copy, out);
}

}  // namespace

PyObject* from_dlpack(PyObject* /*module*/, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  FromDlpackOptions options;
  at::Tensor tensor;
  return read_options(values, count, names, options) && import_object(values[0], options.import, tensor)
             ? wrap_tensor(std::move(tensor))
             : nullptr;
}

}  // namespace simple_torch::bridge
