// Tables are looked for on the type, checked, and remembered.
#include "bridge/tensors/exchange_table.h"

#include <unordered_map>

#include "bridge/objects/values.h"

namespace simple_torch::bridge {
namespace {

constexpr const char* kCapsuleName = "dlpack_exchange_api";

// A type that is made again and again must not fill the memory.
constexpr size_t kMostTypes = 1024;
// A chain of older tables that does not end is no chain.
constexpr int kMostVersions = 16;

const DLPackExchangeAPI* understood(const DLPackExchangeAPIHeader* header) {
  for (int i = 0; header != nullptr && i < kMostVersions; ++i, header = header->prev_api) {
    if (header->version.major == DLPACK_MAJOR_VERSION) {
      const auto* table = reinterpret_cast<const DLPackExchangeAPI*>(header);
      return table->managed_tensor_from_py_object_no_sync != nullptr ? table : nullptr;
    }
  }
  return nullptr;
}

/// A plain attribute of the type or its bases: looked up in Python's own cache, which knows of every change.
const DLPackExchangeAPI* table_named_by(PyTypeObject* type) {
  static PyObject* const name = interned("__dlpack_c_exchange_api__").give();  // kept
  PyObject* capsule = name == nullptr ? nullptr : _PyType_Lookup(type, name);  // borrowed
  if (capsule == nullptr || PyCapsule_IsValid(capsule, kCapsuleName) == 0) {
    PyErr_Clear();
    return nullptr;
  }
  return understood(static_cast<const DLPackExchangeAPIHeader*>(PyCapsule_GetPointer(capsule, kCapsuleName)));
}

}  // namespace

const DLPackExchangeAPI* exchange_table_of(PyTypeObject* type) {
  using Tables = std::unordered_map<PyTypeObject*, const DLPackExchangeAPI*>;
  static Tables& tables = *new Tables;  // guarded by the GIL; never freed: it would outlive the interpreter
  if (const auto known = tables.find(type); known != tables.end()) {
    return known->second;
  }
  const DLPackExchangeAPI* table = table_named_by(type);
  if (table != nullptr && tables.size() < kMostTypes) {
    Py_INCREF(type);  // so that no other type comes to stand at its address
    tables.emplace(type, table);
  }
  return table;
}

}  // namespace simple_torch::bridge
