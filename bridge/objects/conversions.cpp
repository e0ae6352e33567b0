// Conversions between Python and Simple values, evaluation of source, tensors in both directions.
#include "bridge/objects/containers.h"
#include "bridge/objects/objects.h"
#include "bridge/objects/references.h"
#include "bridge/objects/values.h"
#include "bridge/runtime/entry.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

ValueKind kind_of_python(PyObject* object) {
  if (object == Py_None) {
    return ValueKind::kNil;
  }
  if (PyBool_Check(object)) {
    return ValueKind::kBool;
  }
  if (PyLong_Check(object)) {
    return ValueKind::kInt;
  }
  if (PyFloat_Check(object)) {
    return ValueKind::kFloat;
  }
  if (PyUnicode_Check(object)) {
    return ValueKind::kText;
  }
  if (PyList_Check(object)) {
    return ValueKind::kList;
  }
  if (PyDict_Check(object)) {
    return ValueKind::kDict;
  }
  if (PyTuple_Check(object)) {
    return ValueKind::kTuple;
  }
  return is_torch_tensor(object) ? ValueKind::kTensor : ValueKind::kOther;
}

int32_t kind_of(ObjectHandle object, int32_t* out) {
  return in_python([&] {
    *out = static_cast<int32_t>(kind_of_python(object_of(object).get()));
    return true;
  });
}

int32_t type_name(ObjectHandle object, char** out) {
  return text_from_python(out, [&]() -> PyObject* {
    const Ref self = object_of(object);
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(self.get()));
    const Ref module(PyObject_GetAttrString(type, "__module__"));
    const Ref name(module ? PyObject_GetAttrString(type, "__qualname__") : nullptr);
    return name ? PyUnicode_FromFormat("%S.%S", module.get(), name.get()) : nullptr;
  });
}

int32_t str(ObjectHandle object, char** out) {
  return text_from_python(out, [&] { return PyObject_Str(object_of(object).get()); });
}

int32_t repr(ObjectHandle object, char** out) {
  return text_from_python(out, [&] { return PyObject_Repr(object_of(object).get()); });
}

int32_t to_bool(ObjectHandle object, bool* out) {
  return truth_from_python(out, [&] { return PyObject_IsTrue(object_of(object).get()); });
}

int32_t to_int(ObjectHandle object, int64_t* out) {
  return in_python([&] {
    // __index__ rejects floats instead of truncating them; NumPy integers implement it.
    const Ref index(PyNumber_Index(object_of(object).get()));
    *out = index ? PyLong_AsLongLong(index.get()) : -1;
    return *out != -1 || PyErr_Occurred() == nullptr;
  });
}

int32_t to_float(ObjectHandle object, double* out) {
  return in_python([&] {
    *out = PyFloat_AsDouble(object_of(object).get());
    return *out != -1.0 || PyErr_Occurred() == nullptr;
  });
}

int32_t to_text(ObjectHandle object, char** out) {
  return text_from_python(out, [&]() -> PyObject* {
    Ref self = object_of(object);
    if (PyUnicode_Check(self.get()) == 0) {
      PyErr_Format(PyExc_TypeError, "expected str, got %s", Py_TYPE(self.get())->tp_name);
      return nullptr;
    }
    return self.release();
  });
}

int32_t to_list(ObjectHandle iterable, Object*** out, size_t* count) {
  return in_python([&] {
    const Ref items(PySequence_Fast(object_of(iterable).get(), "not iterable"));
    if (!items) {
      return false;
    }
    const auto size = static_cast<size_t>(PySequence_Fast_GET_SIZE(items.get()));
    auto** list = static_cast<Object**>(std::malloc((size + 1) * sizeof(void*)));
    if (list == nullptr) {
      PyErr_NoMemory();
      return false;
    }
    for (size_t i = 0; i < size; ++i) {
      PyObject* item = PySequence_Fast_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i));
      list[i] = to_external(Ref::borrowed(item).release());
    }
    *out = list;
    *count = size;
    return true;
  });
}

int32_t from_value(const Value* value, Object** out) {
  return object_from_python(out, [&] { return to_python(*value); });
}

int32_t make_list(const Value* values, size_t count, Object** out) {
  return object_from_python(out,
                            [&] { return new_list(count, [&](size_t i) { return to_python(values[i]); }); });
}

int32_t make_tuple(const Value* values, size_t count, Object** out) {
  return object_from_python(out,
                            [&] { return new_tuple(count, [&](size_t i) { return to_python(values[i]); }); });
}

int32_t make_dict(const Value* keys_and_values, size_t count, Object** out) {
  return object_from_python(
      out, [&] { return new_dict(count, [&](size_t i) { return to_python(keys_and_values[i]); }); });
}

/// Adds the named values to a namespace.
bool define(PyObject* names, const Arguments& variables) {
  const size_t unnamed = variables.count - variables.name_count;
  if (unnamed != 0) {
    PyErr_SetString(PyExc_TypeError, "eval: every variable must be passed by name");
    return false;
  }
  for (size_t i = 0; i < variables.count; ++i) {
    const Ref name = interned(variables.names[i]);
    const Ref value(name ? to_python(variables.values[i]) : nullptr);
    if (!value || PyDict_SetItem(names, name.get(), value.get()) != 0) {
      return false;
    }
  }
  return true;
}

PyObject* run(const char* code, int start, PyObject* names) {
  const Ref compiled(Py_CompileString(code, "<simple>", start));
  PyObject* result = compiled ? PyEval_EvalCode(compiled.get(), names, names) : nullptr;
  register_exit_handler_last();
  return result;
}

/// The namespace of __main__, borrowed.
PyObject* main_namespace() {
  PyObject* main = PyImport_AddModule("__main__");  // borrowed
  return main != nullptr ? PyModule_GetDict(main) : nullptr;
}

int32_t eval(const char* code, const Arguments* variables, Object** out) {
  return object_from_python(out, [&]() -> PyObject* {
    PyObject* main = main_namespace();
    // A copy of the globals: nested scopes see the variables, and __main__ is unchanged.
    const Ref names(variables->count == 0 ? Ref::borrowed(main) : Ref(PyDict_Copy(main)));
    return names && define(names.get(), *variables) ? run(code, Py_eval_input, names.get()) : nullptr;
  });
}

int32_t exec(const char* code, const Arguments* variables) {
  return in_python([&] {
    PyObject* names = main_namespace();
    return names != nullptr && define(names, *variables) &&
           static_cast<bool>(Ref(run(code, Py_file_input, names)));
  });
}

int32_t delete_rejected(DLManagedTensorVersioned* managed) {
  if (managed == nullptr) {
    return 0;
  }
  if (unavailable_reason() != nullptr) {
    managed->deleter(managed);  // queues the producer's deleter, or leaks
    return 0;
  }
  return in_python([&] {
    delete_now(managed);
    return true;
  });
}

int32_t to_tensor(ObjectHandle object, const ImportOptions* wanted, TensorResult* out) {
  return in_python([&] { return tensor_from_python(object_of(object).get(), *wanted, *out); });
}

int32_t capsule_take(ObjectHandle capsule, TensorResult* out) {
  return in_python([&] { return import_capsule(object_of(capsule).get(), *out); });
}

int32_t to_generator(ObjectHandle object, at::Generator* out) {
  return in_python([&] { return generator_from_python(object_of(object).get(), *out); });
}

int32_t from_generator(const at::Generator* generator, Object** out) {
  return object_from_python(out, [&] { return generator_to_python(*generator); });
}

}  // namespace

void add_value_functions(BridgeApi& api) noexcept {
  api.kind_of = kind_of;
  api.type_name = type_name;
  api.str = str;
  api.repr = repr;
  api.to_bool = to_bool;
  api.to_int = to_int;
  api.to_float = to_float;
  api.to_text = to_text;
  api.to_list = to_list;
  api.from_value = from_value;
  api.make_list = make_list;
  api.make_tuple = make_tuple;
  api.make_dict = make_dict;
  api.eval = eval;
  api.exec = exec;
  api.to_tensor = to_tensor;
  api.delete_rejected = delete_rejected;
  api.capsule_take = capsule_take;
  api.to_generator = to_generator;
  api.from_generator = from_generator;
}

}  // namespace simple_torch::bridge
