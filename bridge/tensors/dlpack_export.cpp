// Exports simple_torch.Tensor by DLPack.
#include "bridge/tensors/dlpack_export.h"

#include <ATen/dlpack.h>

#include <string_view>

#include "bridge/tensors/streams.h"
#include "bridge/tensors/tensor_type.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

struct ExportOptions {
  PyObject* stream = Py_None;
  PyObject* max_version = Py_None;
  PyObject* dl_device = Py_None;
  PyObject* copy = Py_None;
};

/// False with a TypeError set for an unknown name.
bool read_options(PyObject* const* values, PyObject* names, ExportOptions& options) {
  const Py_ssize_t count = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    const char* text = PyUnicode_AsUTF8(name);
    const std::string_view known = text == nullptr ? "" : text;
    PyObject** option = known == "stream"        ? &options.stream
                        : known == "max_version" ? &options.max_version
                        : known == "dl_device"   ? &options.dl_device
                        : known == "copy"        ? &options.copy
                                                 : nullptr;
    if (option == nullptr) {
      PyErr_Format(PyExc_TypeError, "__dlpack__() got an unexpected keyword argument '%U'", name);
      return false;
    }
    *option = values[i];
  }
  return true;
}

/// False with a TypeError set (`what`) for anything but a pair of integers.
bool parse_pair(PyObject* object, const char* what, int& first, int& second) {
  if (PyTuple_Check(object) && PyArg_ParseTuple(object, "ii", &first, &second) != 0) {
    return true;
  }
  if (PyErr_Occurred() == nullptr) {
    PyErr_SetString(PyExc_TypeError, what);
  }
  return false;
}

/// False with a BufferError set when another device is requested.
bool matches_device(const at::Tensor& tensor, PyObject* requested) {
  int kind = 0;
  int index = 0;
  if (requested == Py_None) {
    return true;
  }
  if (!parse_pair(requested, "dl_device must be a (device type, device index) pair", kind, index)) {
    return false;
  }
  const DLDevice device = dlpack_device_of(tensor);
  if (kind == device.device_type && index == device.device_id) {
    return true;
  }
  PyErr_Format(PyExc_BufferError,
               "cannot export to dl_device (%d, %d): the tensor is on (%d, %d); move it there first", kind,
               index, static_cast<int>(device.device_type), static_cast<int>(device.device_id));
  return false;
}

/// Whether the consumer accepts DLPack 1 structs; -1 with an exception set.
int reads_versioned(PyObject* max_version) {
  if (max_version == Py_None) {
    return 0;
  }
  int major = 0;
  int minor = 0;
  if (!parse_pair(max_version, "max_version must be a (major, minor) pair", major, minor)) {
    return -1;
  }
  return major >= 1 ? 1 : 0;
}

PyObject* legacy_capsule(const at::Tensor& tensor) {
  DLManagedTensor* exported = nullptr;
  ServiceError error;
  if (!backend_services().export_legacy(tensor, &exported, error)) {
    raise_buffer_error(error);
    return nullptr;
  }
  return make_legacy_capsule(exported);
}

PyObject* capsule_or_release(DLManagedTensorVersioned* exported) {
  PyObject* capsule = make_capsule(&exported);
  if (capsule == nullptr) {
    exported->deleter(exported);
  }
  return capsule;
}

PyObject* versioned_capsule(const at::Tensor& tensor, bool copy) {
  DLManagedTensorVersioned* exported = nullptr;
  ServiceError error;
  if (!backend_services().export_tensor(tensor, copy, &exported, error)) {
    raise_buffer_error(error);
    return nullptr;
  }
  return capsule_or_release(exported);
}

}  // namespace

PyObject* export_to_python(const at::Tensor& tensor, PyObject* const* values, Py_ssize_t count,
                           PyObject* names) {
  if (count != 0) {
    PyErr_SetString(PyExc_TypeError, "__dlpack__() takes keyword arguments only");
    return nullptr;
  }
  ExportOptions options;
  if (!read_options(values, names, options) || !matches_device(tensor, options.dl_device) ||
      !order_before(tensor, options.stream)) {
    return nullptr;
  }
  const int versioned = reads_versioned(options.max_version);
  const int copy = options.copy == Py_None ? 0 : PyObject_IsTrue(options.copy);
  if (versioned < 0 || copy < 0) {
    return nullptr;
  }
  if (versioned == 0 && copy != 0) {
    PyErr_SetString(PyExc_BufferError, "copy=True needs max_version >= (1, 0)");
    return nullptr;
  }
  return versioned != 0 ? versioned_capsule(tensor, copy != 0) : legacy_capsule(tensor);
}

PyObject* move_to_python(at::Tensor& tensor, PyObject* stream) {
  DLManagedTensorVersioned* exported = nullptr;
  ServiceError error;
  if (!order_before(tensor, stream)) {
    return nullptr;
  }
  if (!backend_services().export_moved(tensor, &exported, error)) {
    raise_buffer_error(error);
    return nullptr;
  }
  return capsule_or_release(exported);
}

PyObject* device_for_python(const at::Tensor& tensor) {
  const DLDevice device = dlpack_device_of(tensor);
  return Py_BuildValue("(ii)", static_cast<int>(device.device_type), static_cast<int>(device.device_id));
}

}  // namespace simple_torch::bridge
