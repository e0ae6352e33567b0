// Imports a DLPack tensor as a Python tensor and exports it, by the C exchange tables of two types.
//
// A library for ctypes.PyDLL: the caller holds the GIL.
#include <ATen/dlpack.h>
#include <Python.h>

#include <chrono>
#include <cstdint>

namespace {

const DLPackExchangeAPI* table_of(PyObject* tensor) {
  PyObject* capsule = PyObject_GetAttrString(tensor, "__dlpack_c_exchange_api__");
  Py_XDECREF(capsule);  // the type keeps a reference
  return capsule == nullptr
             ? nullptr
             : static_cast<const DLPackExchangeAPI*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
}

}  // namespace

/// The mean nanoseconds of one of `rounds`; -1 if a Python exception is set.
extern "C" __attribute__((visibility("default"))) double round_trips(PyObject* tensor, int64_t rounds) {
  const DLPackExchangeAPI* table = table_of(tensor);
  DLManagedTensorVersioned* managed = nullptr;
  if (table == nullptr || table->managed_tensor_from_py_object_no_sync(tensor, &managed) != 0) {
    return -1;
  }
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < rounds; ++i) {
    void* object = nullptr;
    if (table->managed_tensor_to_py_object_no_sync(managed, &object) != 0 ||
        table->managed_tensor_from_py_object_no_sync(object, &managed) != 0) {
      return -1;
    }
    Py_DECREF(static_cast<PyObject*>(object));
  }
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  managed->deleter(managed);
  return taken.count() / static_cast<double>(rounds);
}
