// Looks up, checks and caches exchange tables by type.
#include "bridge/tensors/exchange_table.h"

#include <unordered_map>

#include "bridge/objects/values.h"

namespace simple_torch::bridge {
namespace {

constexpr const char* kCapsuleName = "dlpack_exchange_api";

// A bound for programs that create types without end.
constexpr size_t kMaxTypes = 1024;
// A bound for a cyclic chain of tables.
constexpr int kMaxVersions = 16;

const DLPackExchangeAPI* supported_table(const DLPackExchangeAPIHeader* header) {
  for (int i = 0; header != nullptr && i < kMaxVersions; ++i, header = header->prev_api) {
    if (header->version.major == DLPACK_MAJOR_VERSION) {
      const auto* table = reinterpret_cast<const DLPackExchangeAPI*>(header);
      return table->managed_tensor_from_py_object_no_sync != nullptr ? table : nullptr;
    }
  }
  return nullptr;
}

/// Reads the attribute of the type or its bases through CPython's type cache, which tracks changes.
const DLPackExchangeAPI* lookup_table(PyTypeObject* type) {
  static PyObject* const name = interned("__dlpack_c_exchange_api__").release();  // never freed
  PyObject* capsule = name == nullptr ? nullptr : _PyType_Lookup(type, name);     // borrowed
  if (capsule == nullptr || PyCapsule_IsValid(capsule, kCapsuleName) == 0) {
    PyErr_Clear();
    return nullptr;
  }
  return supported_table(
      static_cast<const DLPackExchangeAPIHeader*>(PyCapsule_GetPointer(capsule, kCapsuleName)));
}

}  // namespace

const DLPackExchangeAPI* exchange_table_of(PyTypeObject* type) {
  using Tables = std::unordered_map<PyTypeObject*, const DLPackExchangeAPI*>;
  static Tables& tables = *new Tables;  // guarded by the GIL; never freed: it would outlive the interpreter
  if (const auto known = tables.find(type); known != tables.end()) {
    return known->second;
  }
  const DLPackExchangeAPI* table = lookup_table(type);
  if (table != nullptr && tables.size() < kMaxTypes) {
    Py_INCREF(type);  // so that no other type reuses its address
    tables.emplace(type, table);
  }
  return table;
}

}  // namespace simple_torch::bridge
