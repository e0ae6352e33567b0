// A `__dlpack__` capsule takes three times as long as the rest of an import. The structs are pybind11's,
// which needs no NumPy at compile time.
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

/// Only the C type has this name and is not a heap type.
bool is_numpy_array(PyTypeObject* type) noexcept {
  static PyTypeObject* ndarray = nullptr;  // guarded by the GIL; lives as long as Python
  if (ndarray == nullptr && std::strcmp(type->tp_name, "numpy.ndarray") == 0 &&
      (type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) {
    ndarray = type;
  }
  return type == ndarray;
}

constexpr uint8_t kBitsOfLong = sizeof(long) * CHAR_BIT;
constexpr DLDataType kNone{0, 0, 0};

/// Indexed by NumPy's type number. Numbers from 17 (objects, strings, times) have no dtype, except half, 23.
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
  const auto number = static_cast<size_t>(dtype.type_num);  // a negative number is out of range, too
  return number < kDtypes.size() ? kDtypes[number] : kNone;
}

constexpr int kMaxDims = 8;

/// Sizes, then strides. Copied, because an array's shape can be changed in place.
using Geometry = std::array<int64_t, 2 * static_cast<size_t>(kMaxDims)>;

/// False for a stride that is negative or not a multiple of the item size.
bool fill(const Array& array, int64_t item_bytes, Geometry& geometry) noexcept {
  bool is_supported = true;
  for (int i = 0; i < array.nd; ++i) {
    is_supported &= array.strides[i] % item_bytes == 0 && (array.strides[i] >= 0 || array.dimensions[i] <= 1);
    geometry[static_cast<size_t>(i)] = array.dimensions[i];
    geometry[static_cast<size_t>(array.nd) + static_cast<size_t>(i)] = array.strides[i] / item_bytes;
  }
  return is_supported;
}

DLTensor describe(const Array& array, DLDataType dtype, Geometry& geometry) noexcept {
  return {array.data, {kDLCPU, 0}, array.nd, dtype, geometry.data(), geometry.data() + array.nd, 0};
}

void release(void* array) {
  queue_release(
      PendingKind::kMemory, [](void* object) { Py_DECREF(static_cast<PyObject*>(object)); }, array);
}

/// The DLPack struct of a read-only array, which needs the READ_ONLY flag.
struct ReadOnlyExport {
  DLManagedTensorVersioned managed;
  PyObject* array;
  Geometry geometry;

  static void deleter(DLManagedTensorVersioned* self) {
    const std::unique_ptr<ReadOnlyExport> export_context(static_cast<ReadOnlyExport*>(self->manager_ctx));
    release(export_context->array);
  }
};

bool export_read_only(PyObject* object, DLDataType dtype, const Geometry& geometry, TensorResult& out) {
  auto* export_context = new (std::nothrow) ReadOnlyExport{{}, object, geometry};
  if (export_context == nullptr) {
    return false;
  }
  export_context->managed = {
      {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
      export_context,
      ReadOnlyExport::deleter,
      DLPACK_FLAG_BITMASK_READ_ONLY,
      describe(*reinterpret_cast<const Array*>(object), dtype, export_context->geometry)};
  Py_INCREF(object);
  out.versioned = &export_context->managed;
  return true;
}

bool import_writable(PyObject* object, DLDataType dtype, Geometry& geometry, TensorResult& out) {
  ServiceError error;
  Py_INCREF(object);
  return backend_services().import_memory(describe(*reinterpret_cast<const Array*>(object), dtype, geometry),
                                          object, release, *out.tensor, error);
}

}  // namespace

bool import_numpy_array(PyObject* object, TensorResult& out) noexcept {
  if (!is_numpy_array(Py_TYPE(object))) {
    return false;
  }
  const auto& array = *reinterpret_cast<const Array*>(object);
  const DLDataType dtype = dtype_of(array);
  Geometry geometry;
  // NumPy sets the sign bit on arrays that warn on write.
  if (dtype.bits == 0 || array.nd > kMaxDims || array.flags < 0 ||
      !fill(array, dtype.bits / CHAR_BIT, geometry)) {
    return false;
  }
  out.path = ImportPath::kNumpyArray;
  return (array.flags & Api::NPY_ARRAY_WRITEABLE_) == 0 ? export_read_only(object, dtype, geometry, out)
                                                        : import_writable(object, dtype, geometry, out);
}

}  // namespace simple_torch::bridge
