// The order of ways in, and what is told to the producer.
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

enum class Outcome { kTaken, kFailed, kNotThisWay };

bool is_on_cpu(const Wanted& wanted) {
  return wanted.device == nullptr || wanted.device->device_type == kDLCPU;
}

bool is_where_wanted(const Wanted& wanted, const DLDevice& device) {
  const bool is_host = device.device_type == kDLCPU || device.device_type == kDLCUDAHost;
  return wanted.device == nullptr || (is_host && is_on_cpu(wanted)) ||
         (device.device_type == wanted.device->device_type && device.device_id == wanted.device->device_id);
}

/// NumPy's copies are made here, too.
Outcome take_from_numpy(PyObject* object, const Wanted& wanted, TensorResult& out) {
  return is_on_cpu(wanted) && take_numpy_array(object, out) ? Outcome::kTaken : Outcome::kNotThisWay;
}

/// The table gives memory without waiting for the work that still fills it, which matters beyond the CPU.
/// There `__dlpack__` orders the streams. It cannot be asked for a copy.
Outcome take_by_table(PyObject* object, const Wanted& wanted, TensorResult& out) {
  const DLPackExchangeAPI* table =
      wanted.copy == CopyRule::kAlways || !is_on_cpu(wanted) ? nullptr : exchange_table_of(Py_TYPE(object));
  if (table == nullptr) {
    return Outcome::kNotThisWay;
  }
  DLManagedTensorVersioned* managed = nullptr;
  if (table->managed_tensor_from_py_object_no_sync(object, &managed) != 0 || managed == nullptr) {
    if (PyErr_Occurred() == nullptr) {
      PyErr_Format(PyExc_BufferError, "the C exchange table of %s gave no tensor and no reason",
                   Py_TYPE(object)->tp_name);
    }
    return Outcome::kFailed;
  }
  out.versioned = with_deferred_deleter(managed);
  if (out.versioned == nullptr) {
    return Outcome::kFailed;
  }
  const DLDeviceType device = managed->dl_tensor.device.device_type;
  if (device != kDLCPU && device != kDLCUDAHost) {
    out.versioned->deleter(out.versioned);
    out.versioned = nullptr;
    return Outcome::kNotThisWay;
  }
  out.way = WayIn::kExchangeTable;
  return Outcome::kTaken;
}

/// Where the object's memory is, by its own words; the CPU where it has none. False with an exception
/// pending.
bool device_of(PyObject* object, int& type, int& index) {
  static PyObject* const name = interned("__dlpack_device__").give();  // kept
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
  const bool is_no_number = PyErr_Occurred() == nullptr || PyErr_ExceptionMatches(PyExc_TypeError) != 0 ||
                            PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
  if (!is_no_number) {
    return false;
  }
  PyErr_Clear();
  PyErr_Format(PyExc_BufferError,
               "__dlpack_device__ of %s gave %R; wanted is a pair of device type and index",
               Py_TYPE(object)->tp_name, device.get());
  return false;
}

/// The stream that the producer is to make its memory ready for: nothing on the CPU, else the current one of
/// torch on that device. False with an exception pending.
bool find_stream(PyObject* object, const Wanted& wanted, Ref& stream) {
  int type = kDLCPU;
  int index = 0;
  if (wanted.device != nullptr) {
    type = wanted.device->device_type;
    index = wanted.device->device_id;
  } else if (!device_of(object, type, index)) {
    return false;
  }
  if (type == kDLCUDA || type == kDLCUDAManaged || type == kDLROCM) {
    stream = Ref(current_stream(index));
    return static_cast<bool>(stream);
  }
  return true;
}

/// The keyword arguments of one call of __dlpack__; the values are borrowed, and each may be left away.
struct Keywords {
  PyObject* stream = nullptr;
  PyObject* max_version = nullptr;
  PyObject* copy = nullptr;
  PyObject* dl_device = nullptr;
};

/// The names of those that are given, one bit for each; made once, and kept. NULL with an exception pending.
PyObject* names_of(unsigned given) {
  static std::array<PyObject*, 16> known{};
  if (known[given] == nullptr) {
    const Ref list(PyList_New(0));
    for (unsigned k = 0; list && k < 4; ++k) {
      const Ref name = interned(std::array{"stream", "max_version", "copy", "dl_device"}[k]);
      if ((given >> k & 1U) != 0 && (!name || PyList_Append(list.get(), name.get()) != 0)) {
        return nullptr;
      }
    }
    known[given] = list ? PyList_AsTuple(list.get()) : nullptr;
  }
  return known[given];
}

Ref called_with(PyObject* method, const Keywords& keywords) {
  std::array<PyObject*, 4> values{};
  size_t count = 0;
  unsigned given = 0;
  unsigned bit = 1;
  for (PyObject* value : {keywords.stream, keywords.max_version, keywords.copy, keywords.dl_device}) {
    if (value != nullptr) {
      values[count++] = value;
      given |= bit;
    }
    bit <<= 1U;
  }
  PyObject* names = names_of(given);
  return Ref(names == nullptr ? nullptr : PyObject_Vectorcall(method, values.data(), 0, names));
}

/// What __dlpack__ gives, asked in the way of DLPack 1.
Ref newer_capsule(PyObject* method, PyObject* stream, CopyRule copy, const DLDevice* device) {
  static PyObject* const version = Py_BuildValue("(ii)", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);  // kept
  PyObject* const asked = copy == CopyRule::kAlways ? Py_True : copy == CopyRule::kNever ? Py_False : nullptr;
  const Ref wanted(device == nullptr
                       ? nullptr
                       : Py_BuildValue("(ii)", static_cast<int>(device->device_type), device->device_id));
  if (device != nullptr && !wanted) {
    return Ref();
  }
  return called_with(method,
                     {.stream = stream, .max_version = version, .copy = asked, .dl_device = wanted.get()});
}

/// Whether the pending exception may come of an option that the producer does not know or has not built.
bool may_be_of_an_option() {
  return PyErr_ExceptionMatches(PyExc_TypeError) != 0 || PyErr_ExceptionMatches(PyExc_BufferError) != 0 ||
         PyErr_ExceptionMatches(PyExc_ValueError) != 0 || PyErr_ExceptionMatches(PyExc_RuntimeError) != 0;
}

/// Of a producer that was asked not to copy, with a TypeError pending: that of one which does not know the
/// option, as a BufferError that tells what it said.
void refuse_without_promise(PyObject* object) {
  const Ref said = take_exception();
  PyErr_Format(
      PyExc_BufferError,
      "__dlpack__ of %s does not take copy=False (%S), as producers of before DLPack 1, and cannot promise "
      "not to copy; leave copy away",
      Py_TYPE(object)->tp_name, said ? said.get() : Py_None);
}

/// What __dlpack__ gives: producers of before DLPack 1 know the stream only, and some of DLPack 1 no copies,
/// which are made here then. Whether an older one copies nobody can tell.
Ref capsule_of_producer(PyObject* object, PyObject* method, PyObject* stream, const Wanted& wanted) {
  const CopyRule copy = wanted.copy;
  Ref capsule = newer_capsule(method, stream, copy, wanted.device);
  if (!capsule && copy == CopyRule::kAlways && may_be_of_an_option()) {
    PyErr_Clear();
    capsule = newer_capsule(method, stream, CopyRule::kIfNeeded, wanted.device);
  }
  if (capsule || PyErr_ExceptionMatches(PyExc_TypeError) == 0) {
    return capsule;
  }
  if (copy == CopyRule::kNever) {
    refuse_without_promise(object);
    return Ref();
  }
  PyErr_Clear();
  return called_with(method, {.stream = stream});
}

/// TensorFlow's own `__dlpack__` ends the process for tensors of these. False with a BufferError pending, or
/// with what came meanwhile and is no error, such as KeyboardInterrupt.
bool has_numbers(PyObject* object) {
  const Ref dtype(PyObject_GetAttrString(object, "dtype"));
  const Ref name(dtype ? PyObject_GetAttrString(dtype.get(), "name") : nullptr);
  if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_Exception) == 0) {
    return false;
  }
  PyErr_Clear();
  for (const char* none : {"string", "resource", "variant"}) {
    if (name && PyUnicode_Check(name.get()) != 0 && PyUnicode_CompareWithASCIIString(name.get(), none) == 0) {
      PyErr_Format(PyExc_BufferError, "its dtype is %U, which is none of numbers", name.get());
      return false;
    }
  }
  return true;
}

/// NumPy's masked arrays lend the values that their masks hide. False with an exception pending.
bool hides_nothing(PyObject* object) {
  if (std::strcmp(Py_TYPE(object)->tp_name, "MaskedArray") != 0) {
    return true;
  }
  const Ref mask(PyObject_GetAttrString(object, "mask"));
  const Ref any(mask ? PyObject_CallMethod(mask.get(), "any", nullptr) : nullptr);
  const int hidden = any ? PyObject_IsTrue(any.get()) : -1;
  if (hidden == 1) {
    PyErr_SetString(PyExc_BufferError,
                    "its mask hides values, which a tensor would show; call filled(value), or give .data");
  }
  return hidden == 0;
}

/// The buffers of immutable arrays say what their capsules cannot; those on other devices, and those of
/// dtypes that buffers do not have, have none.
Outcome take_immutable(PyObject* object, const Wanted& wanted, TensorResult& out) {
  if (!is_on_cpu(wanted) || !is_immutable_array(Py_TYPE(object)) || PyObject_CheckBuffer(object) == 0) {
    return Outcome::kNotThisWay;
  }
  if (take_buffer(object, out)) {
    return Outcome::kTaken;
  }
  const bool is_refusal = PyErr_ExceptionMatches(PyExc_BufferError) != 0 ||
                          PyErr_ExceptionMatches(PyExc_ValueError) != 0 ||
                          PyErr_ExceptionMatches(PyExc_RuntimeError) != 0;
  if (!is_refusal) {
    return Outcome::kFailed;
  }
  PyErr_Clear();
  return Outcome::kNotThisWay;
}

Outcome take_capsule_of(PyObject* object, PyObject* capsule, TensorResult& out) {
  if (!take_capsule(capsule, out)) {
    return Outcome::kFailed;
  }
  if (out.way == WayIn::kLegacyCapsule && is_immutable_array(Py_TYPE(object))) {
    out.versioned->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  }
  return Outcome::kTaken;
}

Outcome take_by_method(PyObject* object, const Wanted& wanted, TensorResult& out) {
  static PyObject* const name = interned("__dlpack__").give();  // kept
  const Ref method(name != nullptr ? PyObject_GetAttr(object, name) : nullptr);
  if (!method) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) {
      return Outcome::kFailed;
    }
    PyErr_Clear();
    return Outcome::kNotThisWay;
  }
  Ref stream;
  if ((is_immutable_array(Py_TYPE(object)) && !has_numbers(object)) || !hides_nothing(object) ||
      !find_stream(object, wanted, stream)) {
    return Outcome::kFailed;
  }
  const Ref capsule = capsule_of_producer(object, method.get(), stream.get(), wanted);
  if (capsule) {
    return take_capsule_of(object, capsule.get(), out);
  }
  // An array that DLPack cannot describe, one that cannot be written say, may have a buffer that says it; and
  // where the buffer does not fit either, its message says what to do.
  const bool buffer_may_fit =
      PyErr_ExceptionMatches(PyExc_BufferError) != 0 && PyObject_CheckBuffer(object) != 0;
  if (!buffer_may_fit) {
    return Outcome::kFailed;
  }
  PyErr_Clear();
  return Outcome::kNotThisWay;
}

/// Of what came. False with a BufferError pending where it is not what was asked for; it is given back then.
bool require_device(PyObject* object, const Wanted& wanted, TensorResult& out) {
  if (out.versioned == nullptr) {
    return true;  // ready, on the CPU, which was asked about before
  }
  const DLDevice given = out.versioned->dl_tensor.device;
  if (is_where_wanted(wanted, given)) {
    return true;
  }
  PyErr_Format(PyExc_BufferError,
               "the memory of the %s is on device (%d, %d), and (%d, %d) is wanted; move it there before",
               Py_TYPE(object)->tp_name, static_cast<int>(given.device_type), given.device_id,
               static_cast<int>(wanted.device->device_type), wanted.device->device_id);
  out.versioned->deleter(out.versioned);
  out.versioned = nullptr;
  return false;
}

}  // namespace

bool take_foreign_tensor(PyObject* object, const Wanted& wanted, TensorResult& out) {
  make_room_in_deferred_memory();
  if (PyCapsule_CheckExact(object)) {
    return take_capsule(object, out) && require_device(object, wanted, out);
  }
  for (const auto way : {take_from_numpy, take_by_table, take_immutable, take_by_method}) {
    const Outcome outcome = way(object, wanted, out);
    if (outcome != Outcome::kNotThisWay) {
      return outcome == Outcome::kTaken && require_device(object, wanted, out);
    }
  }
  if (PyObject_CheckBuffer(object) != 0) {
    return take_buffer(object, out) && require_device(object, wanted, out);
  }
  PyErr_Format(PyExc_TypeError,
               "cannot make a tensor of a %s: it is no torch.Tensor, and has neither __dlpack__ nor a buffer",
               Py_TYPE(object)->tp_name);
  return false;
}

}  // namespace simple_torch::bridge
