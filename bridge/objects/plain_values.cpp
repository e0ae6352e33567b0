#include "bridge/objects/plain_values.h"

#include <cstring>
#include <memory>
#include <utility>

#include "bridge/objects/errors.h"
#include "bridge/objects/references.h"
#include "bridge/runtime/entry.h"
#include "simple_torch/spl_runtime.h"

namespace simple_torch::bridge {
namespace {

constexpr int kMaxPlainDepth = 100;

struct ArrayDeleter {
  void operator()(SplArray* array) const noexcept { services().host.array_free(array); }
};
using PlainArray = std::unique_ptr<SplArray, ArrayDeleter>;

bool to_text(PyObject* object, Value& out) noexcept {
  Py_ssize_t size = 0;
  out.text = PyUnicode_AsUTF8AndSize(object, &size);
  if (out.text == nullptr) {
    PyErr_Clear();
    return false;
  }
  out.type = Value::Type::kText;
  return std::strlen(out.text) == static_cast<size_t>(size);
}

bool to_integer(PyObject* object, Value& out) noexcept {
  int overflow = 0;
  out.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
  out.type = Value::Type::kInt;
  return overflow == 0;
}

SplValue scalar_for_program(const Value& value) {
  SplValue out{};
  switch (value.type) {
    case Value::Type::kBool:
      out.tag = SPL_BOOL;
      out.as_bool = value.boolean;
      break;
    case Value::Type::kInt:
      out.tag = SPL_INT;
      out.as_int = value.integer;
      break;
    case Value::Type::kFloat:
      out.tag = SPL_FLOAT;
      out.as_float = value.real;
      break;
    case Value::Type::kText:
      out.tag = SPL_STRING;
      out.as_string = services().host.str_new(value.text);
      break;
    default:
      out.tag = SPL_NIL;
      break;
  }
  return out;
}

void push_array(SplArray* to, PlainArray items) {
  SplValue value{};
  value.tag = SPL_ARRAY;
  value.as_array = items.release();
  services().host.array_push(to, value);
}

/// Appends the value; false if it is no scalar.
bool append_scalar(SplArray* to, PyObject* object) {
  Value scalar{};
  if (!to_scalar(object, scalar)) {
    return false;
  }
  services().host.array_push(to, scalar_for_program(scalar));
  return true;
}

bool append(SplArray* to, PyObject* object, int depth);

/// Nothing here runs Python code, which could change the list.
bool append_items(SplArray* to, PyObject* list, int depth) {
  if (depth == kMaxPlainDepth) {
    return false;
  }
  PlainArray items(services().host.array_new());
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
    if (!append(items.get(), PySequence_Fast_GET_ITEM(list, i), depth + 1)) {
      return false;
    }
  }
  push_array(to, std::move(items));
  return true;
}

/// Appends the value; false if it is not plain.
bool append(SplArray* to, PyObject* object, int depth) {
  return append_scalar(to, object) ||
         ((PyList_Check(object) || PyTuple_Check(object)) && append_items(to, object, depth));
}

/// Appends an array of key, value, key, value and so on.
bool append_pairs(SplArray* to, PyObject* dict) {
  PlainArray pairs(services().host.array_new());
  Py_ssize_t position = 0;
  PyObject *key = nullptr, *item = nullptr;
  while (PyDict_Next(dict, &position, &key, &item) != 0) {
    if (!append_scalar(pairs.get(), key) || !append(pairs.get(), item, 1)) {
      return false;
    }
  }
  push_array(to, std::move(pairs));
  return true;
}

PlainArray with_letter(const char* letter) {
  PlainArray array(services().host.array_new());
  SplValue text{};
  text.tag = SPL_STRING;
  text.as_string = services().host.str_new(letter);
  services().host.array_push(array.get(), text);
  return array;
}

int32_t to_plain(ObjectHandle object, SplArray** out) {
  return in_python([&] {
    const Ref self = object_of(object);
    const bool is_dict = PyDict_Check(self.get()) != 0;
    PlainArray array = with_letter(is_dict ? "m" : "v");
    const bool is_plain =
        is_dict ? append_pairs(array.get(), self.get()) : append(array.get(), self.get(), 0);
    *out = is_plain ? array.release() : services().host.array_new();
    return true;
  });
}

int32_t new_bytes(int64_t length, Object** out) {
  return object_from_python(out, [&] {
    return PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyBytes_Type), "L",
                                 static_cast<long long>(length));  // allocates zeros, which cost no time
  });
}

int32_t bytes_data(ObjectHandle object, char** data, int64_t* length) {
  return in_python([&] {
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(object_of(object).get(), data, &size) != 0) {
      return false;
    }
    *length = static_cast<int64_t>(size);
    return true;
  });
}

}  // namespace

bool is_of_program_class(PyObject* object) noexcept {
  PyTypeObject* const type = Py_TYPE(object);
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) == 0) {
    return false;
  }
  static PyObject* const mark = PyUnicode_InternFromString("__simple_fields__");  // never freed
  return mark != nullptr && _PyType_Lookup(type, mark) != nullptr;
}

bool to_scalar(PyObject* object, Value& out) noexcept {
  if (object == Py_None) {
    out.type = Value::Type::kNil;
    return true;
  }
  if (is_of_program_class(object)) {
    return false;
  }
  if (PyBool_Check(object)) {
    out.type = Value::Type::kBool;
    out.boolean = object == Py_True;
    return true;
  }
  if (PyLong_Check(object)) {
    return to_integer(object, out);
  }
  if (PyFloat_Check(object)) {
    out.type = Value::Type::kFloat;
    out.real = PyFloat_AS_DOUBLE(object);
    return true;
  }
  return PyUnicode_Check(object) && to_text(object, out);
}

void add_plain_value_functions(BridgeApi& api) noexcept {
  api.to_plain = to_plain;
  api.new_bytes = new_bytes;
  api.bytes_data = bytes_data;
}

}  // namespace simple_torch::bridge
