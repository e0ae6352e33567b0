// Attributes, calls, items, iteration, comparison and operators.
#include "bridge/objects/objects.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "bridge/objects/base_frame.h"
#include "bridge/objects/references.h"
#include "bridge/objects/values.h"
#include "bridge/runtime/entry.h"
#include "bridge/runtime/pending_release.h"

namespace simple_torch::bridge {
namespace {

void release(Object* object) {
  if (is_immortal(as_python(object))) {
    return;
  }
  queue_release(
      PendingKind::kReference, [](void* what) { Py_DECREF(static_cast<PyObject*>(what)); }, object);
}

int32_t import_module(const char* name, Object** out) {
  return object_from_python(out, [&] {
    PyObject* module = PyImport_ImportModule(name);
    register_exit_handler_last();
    return module;
  });
}

int32_t get_attribute(ObjectHandle object, const char* name, Object** out) {
  return object_from_python(out, [&]() -> PyObject* {
    const Ref key = interned(name);
    return key ? PyObject_GetAttr(object_of(object).get(), key.get()) : nullptr;
  });
}

int32_t set_attribute(ObjectHandle object, const char* name, const Value* value) {
  return in_python([&] {
    const Ref self = object_of(object);
    const Ref key = interned(name);
    const Ref converted(key ? to_python(*value) : nullptr);
    return converted && PyObject_SetAttr(self.get(), key.get(), converted.get()) == 0;
  });
}

int32_t has_attribute(ObjectHandle object, const char* name, bool* out) {
  return in_python([&] {
    const Ref key = interned(name);
    const Ref found(key ? PyObject_GetAttr(object_of(object).get(), key.get()) : nullptr);
    *out = static_cast<bool>(found);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError) != 0) {
      PyErr_Clear();
      return true;
    }
    return *out;
  });
}

// [[gnu::flatten]]: the hottest functions, made of many short ones.
[[gnu::flatten]] int32_t call(ObjectHandle callable, const Arguments* arguments, Object** out) {
  return object_from_python(out, [&]() -> PyObject* {
    const Ref function = object_of(callable);
    const CallArguments converted(*arguments);
    return converted.ok()
               ? call_on_frame(function.get(), converted.first(), converted.positional(), converted.names())
               : nullptr;
  });
}

[[gnu::flatten]] int32_t call_method(ObjectHandle object, const char* name, const Arguments* arguments,
                                     Object** out) {
  return object_from_python(out, [&]() -> PyObject* {
    const Ref self = object_of(object);
    const Ref key = interned(name);
    if (!key) {
      return nullptr;
    }
    const Ref method(PyObject_GetAttr(self.get(), key.get()));
    if (!method) {
      return nullptr;  // before the conversion, which must not start with an exception set
    }
    const CallArguments converted(*arguments);
    return converted.ok()
               ? call_on_frame(method.get(), converted.first(), converted.positional(), converted.names())
               : nullptr;
  });
}

int32_t get_item(ObjectHandle object, const Value* key, Object** out) {
  return object_from_python(out, [&]() -> PyObject* {
    const Ref self = object_of(object);
    const Ref converted(to_python(*key));
    return converted ? PyObject_GetItem(self.get(), converted.get()) : nullptr;
  });
}

int32_t set_item(ObjectHandle object, const Value* key, const Value* value) {
  return in_python([&] {
    const Ref self = object_of(object);
    const Ref index(to_python(*key));
    const Ref converted(index ? to_python(*value) : nullptr);
    return converted && PyObject_SetItem(self.get(), index.get(), converted.get()) == 0;
  });
}

int32_t delete_item(ObjectHandle object, const Value* key) {
  return in_python([&] {
    const Ref self = object_of(object);
    const Ref index(to_python(*key));
    return index && PyObject_DelItem(self.get(), index.get()) == 0;
  });
}

int32_t contains(ObjectHandle object, const Value* value, bool* out) {
  return truth_from_python(out, [&] {
    const Ref self = object_of(object);
    const Ref converted(to_python(*value));
    return converted ? PySequence_Contains(self.get(), converted.get()) : -1;
  });
}

int32_t length(ObjectHandle object, int64_t* out) {
  return in_python([&] {
    *out = PyObject_Size(object_of(object).get());
    return *out >= 0;
  });
}

int32_t iterate(ObjectHandle object, Object** out) {
  return object_from_python(out, [&] { return PyObject_GetIter(object_of(object).get()); });
}

int32_t next(ObjectHandle iterator, Object** out) {
  return in_python([&] {
    const Ref self = object_of(iterator);
    if (PyIter_Check(self.get()) == 0) {
      PyErr_Format(PyExc_TypeError, "'%s' object is not an iterator", Py_TYPE(self.get())->tp_name);
      return false;
    }
    *out = to_external(PyIter_Next(self.get()));
    return *out != nullptr || PyErr_Occurred() == nullptr;
  });
}

// Not RichCompareBool, which treats identical objects as equal without calling __eq__.
template <int kCode>
PyObject* compared(PyObject* left, PyObject* right) {
  return PyObject_RichCompare(left, right, kCode);
}

PyObject* power(PyObject* left, PyObject* right) { return PyNumber_Power(left, right, Py_None); }

PyObject* power_in_place(PyObject* left, PyObject* right) {
  return PyNumber_InPlacePower(left, right, Py_None);
}

struct Operator {
  const char* name;
  PyObject* (*apply)(PyObject*, PyObject*);
};
constexpr std::array<Operator, 6> kComparisons{{
    {"==", compared<Py_EQ>},
    {"!=", compared<Py_NE>},
    {"<", compared<Py_LT>},
    {">", compared<Py_GT>},
    {"<=", compared<Py_LE>},
    {">=", compared<Py_GE>},
}};
constexpr std::array<Operator, 26> kArithmetic{{
    {"+", PyNumber_Add},
    {"-", PyNumber_Subtract},
    {"*", PyNumber_Multiply},
    {"/", PyNumber_TrueDivide},
    {"//", PyNumber_FloorDivide},
    {"%", PyNumber_Remainder},
    {"**", power},
    {"@", PyNumber_MatrixMultiply},
    {"&", PyNumber_And},
    {"|", PyNumber_Or},
    {"^", PyNumber_Xor},
    {"<<", PyNumber_Lshift},
    {">>", PyNumber_Rshift},
    {"+=", PyNumber_InPlaceAdd},
    {"-=", PyNumber_InPlaceSubtract},
    {"*=", PyNumber_InPlaceMultiply},
    {"/=", PyNumber_InPlaceTrueDivide},
    {"%=", PyNumber_InPlaceRemainder},
    {"//=", PyNumber_InPlaceFloorDivide},
    {"**=", power_in_place},
    {"@=", PyNumber_InPlaceMatrixMultiply},
    {"&=", PyNumber_InPlaceAnd},
    {"|=", PyNumber_InPlaceOr},
    {"^=", PyNumber_InPlaceXor},
    {"<<=", PyNumber_InPlaceLshift},
    {">>=", PyNumber_InPlaceRshift},
}};

template <size_t kCount>
const Operator* find_operator(const std::array<Operator, kCount>& operators, const char* name) noexcept {
  const auto* found = std::find_if(operators.begin(), operators.end(),
                                   [&](const Operator& op) { return std::strcmp(op.name, name) == 0; });
  return found == operators.end() ? nullptr : found;
}

int32_t compare(ObjectHandle left, const char* op, const Value* right, bool* out) {
  return truth_from_python(out, [&] {
    const Operator* comparison = find_operator(kComparisons, op);
    if (comparison == nullptr) {
      PyErr_Format(PyExc_ValueError, "compare: unknown operator '%s'", op);
      return -1;
    }
    const Ref self = object_of(left);
    const Ref converted(to_python(*right));
    const Ref result(converted ? comparison->apply(self.get(), converted.get()) : nullptr);
    return result ? PyObject_IsTrue(result.get()) : -1;
  });
}

int32_t operate(const Value* left, const char* op, const Value* right, Object** out) {
  return object_from_python(out, [&]() -> PyObject* {
    const Operator* arithmetic = find_operator(kArithmetic, op);
    const Operator* found = arithmetic == nullptr ? find_operator(kComparisons, op) : arithmetic;
    if (found == nullptr) {
      PyErr_Format(PyExc_ValueError, "operate: unknown operator '%s'", op);
      return nullptr;
    }
    const Ref a(to_python(*left));
    const Ref b(a ? to_python(*right) : nullptr);
    return b ? found->apply(a.get(), b.get()) : nullptr;
  });
}

int32_t is_instance(ObjectHandle object, ObjectHandle type, bool* out) {
  return truth_from_python(
      out, [&] { return PyObject_IsInstance(object_of(object).get(), object_of(type).get()); });
}

}  // namespace

void add_object_functions(BridgeApi& api) noexcept {
  api.release = release;
  api.queue_memory_release = [](void (*run)(void*), void* what) {
    queue_release(PendingKind::kMemory, run, what);
  };
  api.import_module = import_module;
  api.get_attribute = get_attribute;
  api.set_attribute = set_attribute;
  api.has_attribute = has_attribute;
  api.call = call;
  api.call_method = call_method;
  api.get_item = get_item;
  api.set_item = set_item;
  api.delete_item = delete_item;
  api.contains = contains;
  api.length = length;
  api.iterate = iterate;
  api.next = next;
  api.compare = compare;
  api.operate = operate;
  api.is_instance = is_instance;
}

}  // namespace simple_torch::bridge
