// By the names of type and module, looked up once for each type.
#include "bridge/tensors/immutable_arrays.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

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
  static std::vector<PyTypeObject*> known;  // guarded by the GIL; kept
  const std::string_view full = type->tp_name;
  const std::string_view name = full.substr(full.rfind('.') + 1);
  if (std::find(known.begin(), known.end(), type) != known.end()) {
    return true;
  }
  const bool is_one = std::any_of(kImmutable.begin(), kImmutable.end(), [&](const Named& named) {
    return name == named.type && is_of_package(type, named.package);
  });
  if (is_one) {
    Py_INCREF(type);
    known.push_back(type);
  }
  return is_one;
}

}  // namespace simple_torch::bridge
