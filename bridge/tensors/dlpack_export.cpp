// What __dlpack__ of our own type does.
#include "bridge/tensors/dlpack_export.h"

#include <ATen/dlpack.h>

#include <string_view>

#include "bridge/tensors/streams.h"
#include "bridge/tensors/tensor_type.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

struct Options {
  PyObject* stream = Py_None;
  PyObject* max_version = Py_None;
  PyObject* dl_device = Py_None;
  PyObject* copy = Py_None;
};

/// False with a TypeError pending for a name that is none of these.
bool read_options(PyObject* const* values, PyObject* names, Options& options) {
  const Py_ssize_t count = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    const char* text = PyUnicode_AsUTF8(name);
    const std::string_view known = text == nullptr ? "" : text;
    PyObject** place = known == "stream"        ? &options.stream
                       : known == "max_version" ? &options.max_version
                       : known == "dl_device"   ? &options.dl_device
                       : known == "copy"        ? &options.copy
                                                : nullptr;
    if (place == nullptr) {
      PyErr_Format(PyExc_TypeError, "__dlpack__() got an unexpected keyword argument '%U'", name);
      return false;
    }
    *place = values[i];
  }
  return true;
}

/// False with a TypeError pending, which tells what it is to be, for all but a pair of integers.
bool read_pair(PyObject* object, const char* what, int& first, int& second) {
  if (PyTuple_Check(object) && PyArg_ParseTuple(object, "ii", &first, &second) != 0) {
    return true;
  }
  if (PyErr_Occurred() == nullptr) {
    PyErr_SetString(PyExc_TypeError, what);
  }
  return false;
}

/// False with a BufferError pending when the tensor is wanted on another device.
bool is_where_wanted(const at::Tensor& tensor, PyObject* wanted) {
  int kind = 0;
  int index = 0;
  if (wanted == Py_None) {
    return true;
  }
  if (!read_pair(wanted, "dl_device is a pair of device type and index", kind, index)) {
    return false;
  }
  const DLDevice here = device_of(tensor);
  if (kind == here.device_type && index == here.device_id) {
    return true;
  }
  PyErr_Format(PyExc_BufferError,
               "dl_device is (%d, %d), and the tensor is on (%d, %d); move it there before it is lent", kind,
               index, static_cast<int>(here.device_type), static_cast<int>(here.device_id));
  return false;
}

/// Whether the consumer reads structures of DLPack 1; -1 with an exception pending.
int reads_versioned(PyObject* max_version) {
  if (max_version == Py_None) {
    return 0;
  }
  int major = 0;
  int minor = 0;
  if (!read_pair(max_version, "max_version is a pair of major and minor version", major, minor)) {
    return -1;
  }
  return major >= 1 ? 1 : 0;
}

PyObject* legacy_capsule(const at::Tensor& tensor) {
  DLManagedTensor* lent = nullptr;
  Refusal refusal;
  if (!backend_services().lend_legacy(tensor, &lent, refusal)) {
    raise_refusal(refusal);
    return nullptr;
  }
  return legacy_capsule_of(lent);
}

PyObject* capsule_or_release(DLManagedTensorVersioned* lent) {
  PyObject* capsule = capsule_of(&lent);
  if (capsule == nullptr) {
    lent->deleter(lent);
  }
  return capsule;
}

PyObject* versioned_capsule(const at::Tensor& tensor, bool copy) {
  DLManagedTensorVersioned* lent = nullptr;
  Refusal refusal;
  if (!backend_services().lend(tensor, copy, &lent, refusal)) {
    raise_refusal(refusal);
    return nullptr;
  }
  return capsule_or_release(lent);
}

}  // namespace

PyObject* lend_to_python(const at::Tensor& tensor, PyObject* const* values, Py_ssize_t count,
                         PyObject* names) {
  if (count != 0) {
    PyErr_SetString(PyExc_TypeError, "__dlpack__() takes keyword arguments only");
    return nullptr;
  }
  Options options;
  if (!read_options(values, names, options) || !is_where_wanted(tensor, options.dl_device) ||
      !order_before(tensor, options.stream)) {
    return nullptr;
  }
  const int versioned = reads_versioned(options.max_version);
  const int copy = options.copy == Py_None ? 0 : PyObject_IsTrue(options.copy);
  if (versioned < 0 || copy < 0) {
    return nullptr;
  }
  if (versioned == 0 && copy != 0) {
    PyErr_SetString(PyExc_BufferError,
                    "copy is true, which the older structure cannot say; ask for max_version (1, 0)");
    return nullptr;
  }
  return versioned != 0 ? versioned_capsule(tensor, copy != 0) : legacy_capsule(tensor);
}

PyObject* give_to_python(at::Tensor& tensor, PyObject* stream) {
  DLManagedTensorVersioned* given = nullptr;
  Refusal refusal;
  if (!order_before(tensor, stream)) {
    return nullptr;
  }
  if (!backend_services().hand_over(tensor, &given, refusal)) {
    raise_refusal(refusal);
    return nullptr;
  }
  return capsule_or_release(given);
}

PyObject* device_for_python(const at::Tensor& tensor) {
  const DLDevice device = device_of(tensor);
  return Py_BuildValue("(ii)", static_cast<int>(device.device_type), static_cast<int>(device.device_id));
}

}  // namespace simple_torch::bridge
