// The order of the protocols, and the arguments passed to the producer.
#include "bridge/tensors/dlpack_import.h"

#include <ATen/dlpack.h>

#include <array>
#include <cstring>
#include <utility>

#include "bridge/objects/errors.h"
#include "bridge/objects/values.h"
#include "bridge/runtime/pending_release.h"
#include "bridge/tensors/buffers.h"
#include "bridge/tensors/exchange_table.h"
#include "bridge/tensors/immutable_arrays.h"
#include "bridge/tensors/numpy_arrays.h"
#include "bridge/tensors/streams.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

enum class Outcome { kImported, kFailed, kNotSupported };

bool is_on_cpu(const ImportOptions& options) {
  return options.device == nullptr || options.device->device_type == kDLCPU;
}

bool matches_device(const ImportOptions& options, const DLDevice& device) {
  const bool is_host = device.device_type == kDLCPU || device.device_type == kDLCUDAHost;
  return options.device == nullptr || (is_host && is_on_cpu(options)) ||
         (device.device_type == options.device->device_type && device.device_id == options.device->device_id);
}

/// The caller makes copies of NumPy arrays.
Outcome import_from_numpy(PyObject* object, const ImportOptions& options, TensorResult& out) {
  return is_on_cpu(options) && import_numpy_array(object, out) ? Outcome::kImported : Outcome::kNotSupported;
}

/// The table exports memory without waiting for queued work, so it is used for CPU memory only; on other
/// devices `__dlpack__` orders the streams. The table cannot make a copy.
Outcome import_by_table(PyObject* object, const ImportOptions& options, TensorResult& out) {
  const DLPackExchangeAPI* table =
      options.copy == CopyRule::kAlways || !is_on_cpu(options) ? nullptr : exchange_table_of(Py_TYPE(object));
  if (table == nullptr) {
    return Outcome::kNotSupported;
  }
  DLManagedTensorVersioned* managed = nullptr;
  if (table->managed_tensor_from_py_object_no_sync(object, &managed) != 0 || managed == nullptr) {
    if (PyErr_Occurred() == nullptr) {
      PyErr_Format(PyExc_BufferError, "DLPack exchange table of %s returned no tensor and set no exception",
                   Py_TYPE(object)->tp_name);
    }
    return Outcome::kFailed;
  }
  out.versioned = with_queued_deleter(managed);
  if (out.versioned == nullptr) {
    return Outcome::kFailed;
  }
  const DLDeviceType device = managed->dl_tensor.device.device_type;
  if (device != kDLCPU && device != kDLCUDAHost) {
    delete_now(std::exchange(out.versioned, nullptr));
    return Outcome::kNotSupported;
  }
  out.path = ImportPath::kExchangeTable;
  return Outcome::kImported;
}

/// The object's `__dlpack_device__`; the CPU when it has none. False with an exception set.
bool read_device(PyObject* object, int& type, int& index) {
  static PyObject* const name = interned("__dlpack_device__").release();  // never freed
  const Ref method(name != nullptr ? PyObject_GetAttr(object, name) : nullptr);
  if (!method) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) {
      return false;
    }
    PyErr_Clear();
    return true;
  }
  const Ref device(PyObject_CallNoArgs(method.get()));
  if (!device) {
    return false;
  }
  if (PyTuple_Check(device.get()) && PyArg_ParseTuple(device.get(), "ii", &type, &index) != 0) {
    return true;
  }
  const bool is_wrong_type = PyErr_Occurred() == nullptr || PyErr_ExceptionMatches(PyExc_TypeError) != 0 ||
                             PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
  if (!is_wrong_type) {
    return false;
  }
  PyErr_Clear();
  PyErr_Format(PyExc_BufferError,
               "__dlpack_device__ of %s must return a (device type, device index) pair, got %R",
               Py_TYPE(object)->tp_name, device.get());
  return false;
}

/// The consumer stream to pass to the producer: none on the CPU, else torch's current stream on that device.
/// False with an exception set.
bool find_stream(PyObject* object, const ImportOptions& options, Ref& stream) {
  int type = kDLCPU;
  int index = 0;
  if (options.device != nullptr) {
    type = options.device->device_type;
    index = options.device->device_id;
  } else if (!read_device(object, type, index)) {
    return false;
  }
  if (type == kDLCUDA || type == kDLCUDAManaged || type == kDLROCM) {
    stream = Ref(current_stream(index));
    return static_cast<bool>(stream);
  }
  return true;
}

/// The keyword arguments of one __dlpack__ call, borrowed; NULL omits the argument.
struct Keywords {
  PyObject* stream = nullptr;
  PyObject* max_version = nullptr;
  PyObject* copy = nullptr;
  PyObject* dl_device = nullptr;
};

/// The tuple of the names in `mask`, one bit each; created once, never freed. NULL with an exception set.
PyObject* keyword_names(unsigned mask) {
  static std::array<PyObject*, 16> known{};
  if (known[mask] == nullptr) {
    const Ref list(PyList_New(0));
    for (unsigned k = 0; list && k < 4; ++k) {
      const Ref name = interned(std::array{"stream", "max_version", "copy", "dl_device"}[k]);
      if ((mask >> k & 1U) != 0 && (!name || PyList_Append(list.get(), name.get()) != 0)) {
        return nullptr;
      }
    }
    known[mask] = list ? PyList_AsTuple(list.get()) : nullptr;
  }
  return known[mask];
}

Ref call_dlpack(PyObject* method, const Keywords& keywords) {
  std::array<PyObject*, 4> values{};
  size_t count = 0;
  unsigned mask = 0;
  unsigned bit = 1;
  for (PyObject* value : {keywords.stream, keywords.max_version, keywords.copy, keywords.dl_device}) {
    if (value != nullptr) {
      values[count++] = value;
      mask |= bit;
    }
    bit <<= 1U;
  }
  PyObject* names = keyword_names(mask);
  return Ref(names == nullptr ? nullptr : PyObject_Vectorcall(method, values.data(), 0, names));
}

/// Calls __dlpack__ with DLPack 1's arguments.
Ref request_versioned_capsule(PyObject* method, PyObject* stream, CopyRule copy, const DLDevice* device) {
  static PyObject* const version =
      Py_BuildValue("(ii)", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);  // never freed
  PyObject* const copy_argument = copy == CopyRule::kAlways  ? Py_True
                                  : copy == CopyRule::kNever ? Py_False
                                                             : nullptr;
  const Ref device_pair(
      device == nullptr ? nullptr
                        : Py_BuildValue("(ii)", static_cast<int>(device->device_type), device->device_id));
  if (device != nullptr && !device_pair) {
    return Ref();
  }
  return call_dlpack(
      method,
      {.stream = stream, .max_version = version, .copy = copy_argument, .dl_device = device_pair.get()});
}

/// Whether the current exception may be caused by an argument that the producer does not support.
bool is_option_error() {
  return PyErr_ExceptionMatches(PyExc_TypeError) != 0 || PyErr_ExceptionMatches(PyExc_BufferError) != 0 ||
         PyErr_ExceptionMatches(PyExc_ValueError) != 0 || PyErr_ExceptionMatches(PyExc_RuntimeError) != 0;
}

/// Converts the TypeError of a producer that does not accept copy=False into a BufferError.
void raise_copy_not_supported(PyObject* object) {
  const Ref error = take_exception();
  PyErr_Format(PyExc_BufferError,
               "__dlpack__ of %s does not accept copy=False (%S), which producers before DLPack 1 do not "
               "support; omit "
               "copy",
               Py_TYPE(object)->tp_name, error ? error.get() : Py_None);
}

/// Calls __dlpack__ with the arguments that the producer supports. Producers before DLPack 1 accept the
/// stream only; whether they copy is unknown. Some DLPack 1 producers cannot copy; the caller then makes the
/// copy.
Ref request_capsule(PyObject* object, PyObject* method, PyObject* stream, const ImportOptions& options) {
  const CopyRule copy = options.copy;
  Ref capsule = request_versioned_capsule(method, stream, copy, options.device);
  if (!capsule && copy == CopyRule::kAlways && is_option_error()) {
    PyErr_Clear();
    capsule = request_versioned_capsule(method, stream, CopyRule::kIfNeeded, options.device);
  }
  if (capsule || PyErr_ExceptionMatches(PyExc_TypeError) == 0) {
    return capsule;
  }
  if (copy == CopyRule::kNever) {
    raise_copy_not_supported(object);
    return Ref();
  }
  PyErr_Clear();
  return call_dlpack(method, {.stream = stream});
}

/// TensorFlow's `__dlpack__` aborts the process for tensors of the other dtypes. False with a BufferError
/// set, or with an exception that is not an Exception, such as KeyboardInterrupt.
bool has_numeric_dtype(PyObject* object) {
  const Ref dtype(PyObject_GetAttrString(object, "dtype"));
  const Ref name(dtype ? PyObject_GetAttrString(dtype.get(), "name") : nullptr);
  if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_Exception) == 0) {
    return false;
  }
  PyErr_Clear();
  for (const char* excluded : {"string", "resource", "variant"}) {
    if (name && PyUnicode_Check(name.get()) != 0 &&
        PyUnicode_CompareWithASCIIString(name.get(), excluded) == 0) {
      PyErr_Format(PyExc_BufferError, "cannot import a tensor of dtype %U: not numeric", name.get());
      return false;
    }
  }
  return true;
}

/// A NumPy masked array would export the values that its mask hides. False with an exception set.
bool has_no_hidden_values(PyObject* object) {
  if (std::strcmp(Py_TYPE(object)->tp_name, "MaskedArray") != 0) {
    return true;
  }
  const Ref mask(PyObject_GetAttrString(object, "mask"));
  const Ref any(mask ? PyObject_CallMethod(mask.get(), "any", nullptr) : nullptr);
  const int hidden = any ? PyObject_IsTrue(any.get()) : -1;
  if (hidden == 1) {
    PyErr_SetString(PyExc_BufferError,
                    "cannot import a masked array with masked values; call filled(value), or pass .data");
  }
  return hidden == 0;
}

/// The buffer of an immutable array is marked read-only, which its capsule cannot express. Arrays on other
/// devices or of dtypes without a buffer format have no buffer.
Outcome import_immutable(PyObject* object, const ImportOptions& options, TensorResult& out) {
  if (!is_on_cpu(options) || !is_immutable_array(Py_TYPE(object)) || PyObject_CheckBuffer(object) == 0) {
    return Outcome::kNotSupported;
  }
  if (import_buffer(object, out)) {
    return Outcome::kImported;
  }
  const bool is_unsupported = PyErr_ExceptionMatches(PyExc_BufferError) != 0 ||
                              PyErr_ExceptionMatches(PyExc_ValueError) != 0 ||
                              PyErr_ExceptionMatches(PyExc_RuntimeError) != 0;
  if (!is_unsupported) {
    return Outcome::kFailed;
  }
  PyErr_Clear();
  return Outcome::kNotSupported;
}

Outcome import_producer_capsule(PyObject* object, PyObject* capsule, TensorResult& out) {
  if (!import_capsule(capsule, out)) {
    return Outcome::kFailed;
  }
  if (out.path == ImportPath::kLegacyCapsule && is_immutable_array(Py_TYPE(object))) {
    out.versioned->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  }
  return Outcome::kImported;
}

Outcome import_by_method(PyObject* object, const ImportOptions& options, TensorResult& out) {
  static PyObject* const name = interned("__dlpack__").release();  // never freed
  const Ref method(name != nullptr ? PyObject_GetAttr(object, name) : nullptr);
  if (!method) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) {
      return Outcome::kFailed;
    }
    PyErr_Clear();
    return Outcome::kNotSupported;
  }
  Ref stream;
  if ((is_immutable_array(Py_TYPE(object)) && !has_numeric_dtype(object)) || !has_no_hidden_values(object) ||
      !find_stream(object, options, stream)) {
    return Outcome::kFailed;
  }
  const Ref capsule = request_capsule(object, method.get(), stream.get(), options);
  if (capsule) {
    return import_producer_capsule(object, capsule.get(), out);
  }
  // An array that DLPack cannot describe, such as a read-only one, may have a buffer that can. If the buffer
  // does not fit either, its error message states what to do.
  const bool buffer_may_fit =
      PyErr_ExceptionMatches(PyExc_BufferError) != 0 && PyObject_CheckBuffer(object) != 0;
  if (!buffer_may_fit) {
    return Outcome::kFailed;
  }
  PyErr_Clear();
  return Outcome::kNotSupported;
}

/// Checks the device of the result. On a mismatch deletes the result and returns false with a BufferError
/// set.
bool require_device(PyObject* object, const ImportOptions& options, TensorResult& out) {
  if (out.versioned == nullptr) {
    return true;  // an at::Tensor on the CPU, checked before
  }
  const DLDevice device = out.versioned->dl_tensor.device;
  if (matches_device(options, device)) {
    return true;
  }
  PyErr_Format(PyExc_BufferError, "%s is on device (%d, %d), expected (%d, %d); move it there first",
               Py_TYPE(object)->tp_name, static_cast<int>(device.device_type), device.device_id,
               static_cast<int>(options.device->device_type), options.device->device_id);
  delete_now(std::exchange(out.versioned, nullptr));
  return false;
}

}  // namespace

bool import_foreign_tensor(PyObject* object, const ImportOptions& options, TensorResult& out) {
  drain_memory_before_import();
  if (PyCapsule_CheckExact(object)) {
    return import_capsule(object, out) && require_device(object, options, out);
  }
  for (const auto import_by : {import_from_numpy, import_by_table, import_immutable, import_by_method}) {
    const Outcome outcome = import_by(object, options, out);
    if (outcome != Outcome::kNotSupported) {
      return outcome == Outcome::kImported && require_device(object, options, out);
    }
  }
  if (PyObject_CheckBuffer(object) != 0) {
    return import_buffer(object, out) && require_device(object, options, out);
  }
  PyErr_Format(
      PyExc_TypeError,
      "cannot create a tensor from %s: not a torch.Tensor, no __dlpack__, no buffer; numpy.asarray() "
      "converts other arrays",
      Py_TYPE(object)->tp_name);
  return false;
}

}  // namespace simple_torch::bridge
