// Compares type and module names, once per type.
#include "bridge/tensors/immutable_arrays.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace simple_torch::bridge {
namespace {

struct TypeName {
  std::string_view type;
  std::string_view package;
};

constexpr auto kImmutable =
    std::to_array<TypeName>({{"ArrayImpl", "jaxlib."}, {"EagerTensor", "tensorflow."}});

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
  static std::vector<PyTypeObject*> known;  // guarded by the GIL; never freed
  const std::string_view full = type->tp_name;
  const std::string_view name = full.substr(full.rfind('.') + 1);
  if (std::find(known.begin(), known.end(), type) != known.end()) {
    return true;
  }
  const bool is_immutable = std::any_of(kImmutable.begin(), kImmutable.end(), [&](const TypeName& candidate) {
    return name == candidate.type && is_of_package(type, candidate.package);
  });
  if (is_immutable) {
    Py_INCREF(type);
    known.push_back(type);
  }
  return is_immutable;
}

}  // namespace simple_torch::bridge
