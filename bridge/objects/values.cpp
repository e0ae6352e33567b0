// Converts values and argument lists to Python.
#include "bridge/objects/values.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bridge/objects/containers.h"
#include "bridge/objects/references.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};

using Names = std::unordered_map<std::string, PyObject*, StringHash, std::equal_to<>>;

// A bound for programs that generate names without end.
constexpr size_t kMaxNames = 8192;

PyObject* list_to_python(const SplArray* items);

PyObject* plain_to_python(const SplValue& value) {
  switch (value.tag) {
    case SPL_BOOL:
      return PyBool_FromLong(value.as_bool ? 1 : 0);
    case SPL_INT:
      return PyLong_FromLongLong(value.as_int);
    case SPL_FLOAT:
      return PyFloat_FromDouble(value.as_float);
    case SPL_STRING:
      return PyUnicode_FromString(value.as_string);
    case SPL_ARRAY:
      return list_to_python(value.as_array);
    default:
      return Ref::borrowed(Py_None).release();
  }
}

size_t length_of(const SplArray* items) { return items == nullptr ? 0 : static_cast<size_t>(items->len); }

PyObject* list_to_python(const SplArray* items) {
  if (Py_EnterRecursiveCall(" while converting a list") != 0) {
    return nullptr;
  }
  PyObject* list = new_list(length_of(items), [&](size_t i) { return plain_to_python(items->items[i]); });
  Py_LeaveRecursiveCall();
  return list;
}

PyObject* dict_to_python(const SplArray* items) {
  return new_dict(length_of(items), [&](size_t i) { return plain_to_python(items->items[i]); });
}

}  // namespace

PyObject* to_python(const Value& value) {
  switch (value.type) {
    case Value::Type::kNil:
      return Ref::borrowed(Py_None).release();
    case Value::Type::kBool:
      return PyBool_FromLong(value.boolean ? 1 : 0);
    case Value::Type::kInt:
      return PyLong_FromLongLong(value.integer);
    case Value::Type::kFloat:
      return PyFloat_FromDouble(value.real);
    case Value::Type::kText:
      return PyUnicode_FromString(value.text);
    case Value::Type::kList:
      return list_to_python(value.list);
    case Value::Type::kDict:
      return dict_to_python(value.list);
    case Value::Type::kObject:
      return referenced(value.object);
    case Value::Type::kTensor:
      return tensor_to_python(*value.tensor);
    case Value::Type::kDlpack:
      return make_capsule(value.dlpack);
  }
  PyErr_SetString(PyExc_SystemError, "unknown value type from the backend");
  return nullptr;
}

namespace {

/// Finds a name without a hash: a program passes the same address for the same name.
struct RecentName {
  const char* address = nullptr;
  PyObject* text = nullptr;  // borrowed from Names; its UTF-8 is that of `address` if it has not changed
};
constexpr size_t kRecentNames = 64;

RecentName& recent_name(const char* name) {
  static std::array<RecentName, kRecentNames> recent;  // guarded by the GIL
  constexpr unsigned kAlignment = 4;                   // of strings on the heap, in bits
  return recent[(reinterpret_cast<uintptr_t>(name) >> kAlignment) % kRecentNames];
}

}  // namespace

Ref interned(const char* name) {
  static Names& names = *new Names;  // guarded by the GIL; never freed: it would outlive the interpreter
  RecentName& recent = recent_name(name);
  if (recent.address == name && std::strcmp(name, PyUnicode_AsUTF8(recent.text)) == 0) {
    return Ref::borrowed(recent.text);
  }
  if (const auto known = names.find(std::string_view(name)); known != names.end()) {
    recent = {name, known->second};
    return Ref::borrowed(known->second);
  }
  Ref text(PyUnicode_InternFromString(name));
  if (text && names.size() < kMaxNames) {
    names.emplace(name, Ref::borrowed(text.get()).release());
  }
  return text;
}

CallArguments::CallArguments(const Arguments& arguments, PyObject* self)
    : self_count_(self != nullptr ? 1 : 0) {
  const size_t slots = 1 + self_count_ + arguments.count;
  if (slots > kInline) {
    values_ = new PyObject*[slots];
  }
  if (self != nullptr) {
    values_[1] = self;  // borrowed
  }
  positional_ = self_count_ + arguments.count - arguments.name_count;
  ok_ = convert(arguments) && name(arguments);
}

CallArguments::~CallArguments() {
  for (size_t i = 0; i < filled_ && may_touch_python(); ++i) {
    Py_DECREF(values_[1 + self_count_ + i]);
  }
  if (values_ != inline_values_) {
    delete[] values_;
  }
}

bool CallArguments::convert(const Arguments& arguments) {
  for (; filled_ < arguments.count; ++filled_) {
    PyObject* value = to_python(arguments.values[filled_]);
    if (value == nullptr) {
      return false;
    }
    values_[1 + self_count_ + filled_] = value;
  }
  return true;
}

bool CallArguments::name(const Arguments& arguments) {
  if (arguments.name_count == 0) {
    return true;
  }
  names_ = Ref(PyTuple_New(static_cast<Py_ssize_t>(arguments.name_count)));
  for (size_t i = 0; names_ && i < arguments.name_count; ++i) {
    Ref text = interned(arguments.names[i]);
    if (!text) {
      return false;
    }
    PyTuple_SET_ITEM(names_.get(), static_cast<Py_ssize_t>(i), text.release());
  }
  return static_cast<bool>(names_);
}

}  // namespace simple_torch::bridge
