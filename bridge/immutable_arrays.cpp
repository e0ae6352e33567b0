// By the names of type and module, looked up once for each type.
#include "bridge/immutable_arrays.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace simple_torch::bridge {
namespace {

struct Named {
  std::string_view type;
  std::string_view package;
};

constexpr auto kImmutable = std::to_array<Named>({{"ArrayImpl", "jaxlib."}, {"EagerTensor", "tensorflow."}});

bool is_of_package(PyTypeObject* type, std::string_view package) noexcept {
  const Ref module(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__module__"));
  const char* name = module && PyUnicode_Check(module.get()) != 0 ? PyUnicode_AsUTF8(module.get()) : nullptr;
  if (name == nullptr) {
    PyErr_Clear();
    return false;
  }
  return std::string_view(name).substr(0, package.size()) == package;
}

}  // namespace

bool is_immutable_array(PyTypeObject* type) noexcept {
  static std::array<PyTypeObject*, kImmutable.size()> known{};  // guarded by the GIL; kept
  const std::string_view full = type->tp_name;
  const std::string_view name = full.substr(full.rfind('.') + 1);
  for (size_t i = 0; i < known.size(); ++i) {
    if (type == known[i]) {
      return true;
    }
    if (known[i] == nullptr && name == kImmutable[i].type && is_of_package(type, kImmutable[i].package)) {
      Py_INCREF(type);
      known[i] = type;
      return true;
    }
  }
  return false;
}

}  // namespace simple_torch::bridge
