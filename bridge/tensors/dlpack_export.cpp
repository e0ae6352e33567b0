// Exports simple_torch.Tensor by DLPack.
#include "bridge/tensors/dlpack_export.h"

#include <ATen/dlpack.h>

#include <optional>
#include <string_view>
#include <utility>

#include "bridge/tensors/streams.h"
#include "bridge/tensors/tensor_type.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

/// The arguments of `__dlpack__`, unread.
struct ExportKeywords {
  PyObject* stream = Py_None;
  PyObject* max_version = Py_None;
  PyObject* dl_device = Py_None;
  PyObject* copy = Py_None;
};

struct ExportOptions {
  std::optional<int64_t> stream;
  bool is_versioned = false;
  std::optional<std::pair<int, int>> device;  // DLPack's type and index
  bool copy = false;
};

/// False with a TypeError set for an unknown name.
bool find_keywords(PyObject* const* values, PyObject* names, ExportKeywords& keywords) {
  const Py_ssize_t count = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    const char* text = PyUnicode_AsUTF8(name);
    const std::string_view known = text == nullptr ? "" : text;
    PyObject** keyword = known == "stream"        ? &keywords.stream
                         : known == "max_version" ? &keywords.max_version
                         : known == "dl_device"   ? &keywords.dl_device
                         : known == "copy"        ? &keywords.copy
                                                  : nullptr;
    if (keyword == nullptr) {
      PyErr_Format(PyExc_TypeError, "__dlpack__() got an unexpected keyword argument '%U'", name);
      return false;
    }
    *keyword = values[i];
  }
  return true;
}

/// Empty with a TypeError set (`what`) for anything but a pair of integers.
std::optional<std::pair<int, int>> read_pair(PyObject* object, const char* what) {
  std::pair<int, int> pair;
  if (PyTuple_Check(object) && PyArg_ParseTuple(object, "ii", &pair.first, &pair.second) != 0) {
    return pair;
  }
  if (PyErr_Occurred() == nullptr) {
    PyErr_SetString(PyExc_TypeError, what);
  }
  return std::nullopt;
}

/// False with an exception set.
bool read_options(const ExportKeywords& keywords, ExportOptions& options) {
  if (keywords.dl_device != Py_None) {
    options.device = read_pair(keywords.dl_device, "dl_device must be a (device type, device index) pair");
    if (!options.device) {
      return false;
    }
  }
  if (keywords.max_version != Py_None) {
    const auto version = read_pair(keywords.max_version, "max_version must be a (major, minor) pair");
    if (!version) {
      return false;
    }
    options.is_versioned = version->first >= 1;
  }
  const int copy = keywords.copy == Py_None ? 0 : PyObject_IsTrue(keywords.copy);
  options.copy = copy == 1;
  return copy >= 0 && read_stream(keywords.stream, options.stream);
}

/// False with a BufferError set when another device is requested.
bool matches_device(const at::Tensor& tensor, const std::optional<std::pair<int, int>>& requested) {
  const DLDevice device = dlpack_device_of(tensor);
  if (!requested || *requested == std::pair<int, int>(device.device_type, device.device_id)) {
    return true;
  }
  PyErr_Format(PyExc_BufferError,
               "cannot export to dl_device (%d, %d): the tensor is on (%d, %d); move it there first",
               requested->first, requested->second, static_cast<int>(device.device_type),
               static_cast<int>(device.device_id));
  return false;
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
  ExportKeywords keywords;
  ExportOptions options;
  if (!find_keywords(values, names, keywords) || !read_options(keywords, options) ||
      !check_not_moved(tensor) || !matches_device(tensor, options.device) ||
      !order_before(tensor, options.stream)) {
    return nullptr;
  }
  if (!options.is_versioned && options.copy) {
    PyErr_SetString(PyExc_BufferError, "copy=True needs max_version >= (1, 0)");
    return nullptr;
  }
  if (options.copy) {
    // A copy may run Python code of a mode, which may release the object that `tensor` belongs to.
    const at::Tensor held = tensor;  // NOLINT(performance-unnecessary-copy-initialization)
    return versioned_capsule(held, true);
  }
  return options.is_versioned ? versioned_capsule(tensor, false) : legacy_capsule(tensor);
}

PyObject* move_to_python(at::Tensor& tensor, PyObject* stream) {
  std::optional<int64_t> number;
  if (!read_stream(stream, number) || !check_not_moved(tensor) || !order_before(tensor, number)) {
    return nullptr;
  }
  // The last reference to the tensor's torch.Tensor may run a finalizer that looks at this object again.
  at::Tensor moved = std::exchange(tensor, at::Tensor());
  DLManagedTensorVersioned* exported = nullptr;
  ServiceError error;
  if (!backend_services().export_moved(moved, &exported, error)) {
    tensor = std::move(moved);
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
