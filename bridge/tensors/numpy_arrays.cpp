// A capsule by `__dlpack__` takes three times as long as all else that bringing an array in does. The
// structures are those of pybind11, which does not need NumPy to be there at compile time.
#include "bridge/tensors/numpy_arrays.h"

#include <ATen/dlpack.h>
#include <pybind11/numpy.h>

#include <array>
#include <climits>
#include <cstring>
#include <memory>
#include <new>

#include "bridge/runtime/pending_release.h"
#include "bridge/tensors/tensor_type.h"

namespace simple_torch::bridge {
namespace {

using Array = pybind11::detail::PyArray_Proxy;
using Dtype = pybind11::detail::PyArrayDescr_Proxy;
using Api = pybind11::detail::npy_api;

/// Only a type of C's can be named so and be none of Python's classes.
bool is_numpy_array(PyTypeObject* type) noexcept {
  static PyTypeObject* ndarray = nullptr;  // guarded by the GIL; as NumPy's module it lives as long as Python
  if (ndarray == nullptr && std::strcmp(type->tp_name, "numpy.ndarray") == 0 &&
      (type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) {
    ndarray = type;
  }
  return type == ndarray;
}

constexpr uint8_t kBitsOfLong = sizeof(long) * CHAR_BIT;
constexpr DLDataType kNone{0, 0, 0};

/// By NumPy's number of the type; those from 17 (objects, texts, times) have none, but for half, 23.
constexpr auto kDtypes = std::to_array<DLDataType>({
    {kDLBool, 8, 1},
    {kDLInt, 8, 1},
    {kDLUInt, 8, 1},
    {kDLInt, 16, 1},
    {kDLUInt, 16, 1},
    {kDLInt, 32, 1},
    {kDLUInt, 32, 1},
    {kDLInt, kBitsOfLong, 1},
    {kDLUInt, kBitsOfLong, 1},
    {kDLInt, 64, 1},
    {kDLUInt, 64, 1},
    {kDLFloat, 32, 1},
    {kDLFloat, 64, 1},
    kNone,  // long double
    {kDLComplex, 64, 1},
    {kDLComplex, 128, 1},
});
constexpr int kHalf = 23;

DLDataType dtype_of(const Array& array) noexcept {
  const auto& dtype = *reinterpret_cast<const Dtype*>(array.descr);
  if (dtype.byteorder == '>') {
    return kNone;
  }
  if (dtype.type_num == kHalf) {
    return {kDLFloat, 16, 1};
  }
  const auto number = static_cast<size_t>(dtype.type_num);  // a negative one is beyond the table, too
  return number < kDtypes.size() ? kDtypes[number] : kNone;
}

constexpr int kMostDims = 8;

/// Sizes, then strides. Copies, for an array may be given others in place.
using Geometry = std::array<int64_t, 2 * static_cast<size_t>(kMostDims)>;

/// False where a step is no multiple of the item's size, or goes backwards.
bool fill(const Array& array, int64_t item_bytes, Geometry& geometry) noexcept {
  bool is_whole = true;
  for (int i = 0; i < array.nd; ++i) {
    is_whole &= array.strides[i] % item_bytes == 0 && (array.strides[i] >= 0 || array.dimensions[i] <= 1);
    geometry[static_cast<size_t>(i)] = array.dimensions[i];
    geometry[static_cast<size_t>(array.nd) + static_cast<size_t>(i)] = array.strides[i] / item_bytes;
  }
  return is_whole;
}

DLTensor described(const Array& array, DLDataType dtype, Geometry& geometry) noexcept {
  return {array.data, {kDLCPU, 0}, array.nd, dtype, geometry.data(), geometry.data() + array.nd, 0};
}

void release(void* array) {
  defer(
      Deferred::kMemory, [](void* last) { Py_DECREF(static_cast<PyObject*>(last)); }, array);
}

/// A structure is needed for the flag.
struct ReadOnlyLoan {
  DLManagedTensorVersioned managed;
  PyObject* array;
  Geometry geometry;

  static void end(DLManagedTensorVersioned* self) {
    const std::unique_ptr<ReadOnlyLoan> loan(static_cast<ReadOnlyLoan*>(self->manager_ctx));
    release(loan->array);
  }
};

bool lend_read_only(PyObject* object, DLDataType dtype, const Geometry& geometry, TensorResult& out) {
  auto* loan = new (std::nothrow) ReadOnlyLoan{{}, object, geometry};
  if (loan == nullptr) {
    return false;
  }
  loan->managed = {{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
                   loan,
                   ReadOnlyLoan::end,
                   DLPACK_FLAG_BITMASK_READ_ONLY,
                   described(*reinterpret_cast<const Array*>(object), dtype, loan->geometry)};
  Py_INCREF(object);
  out.versioned = &loan->managed;
  return true;
}

bool take_writable(PyObject* object, DLDataType dtype, Geometry& geometry, TensorResult& out) {
  Refusal refusal;
  Py_INCREF(object);
  return backend_services().take_memory(described(*reinterpret_cast<const Array*>(object), dtype, geometry),
                                        object, release, *out.tensor, refusal);
}

}  // namespace

bool take_numpy_array(PyObject* object, TensorResult& out) noexcept {
  if (!is_numpy_array(Py_TYPE(object))) {
    return false;
  }
  const auto& array = *reinterpret_cast<const Array*>(object);
  const DLDataType dtype = dtype_of(array);
  Geometry geometry;
  // The sign is NumPy's mark of arrays that warn when they are written.
  if (dtype.bits == 0 || array.nd > kMostDims || array.flags < 0 ||
      !fill(array, dtype.bits / CHAR_BIT, geometry)) {
    return false;
  }
  out.way = WayIn::kNumpyArray;
  return (array.flags & Api::NPY_ARRAY_WRITEABLE_) == 0 ? lend_read_only(object, dtype, geometry, out)
                                                        : take_writable(object, dtype, geometry, out);
}

}  // namespace simple_torch::bridge
