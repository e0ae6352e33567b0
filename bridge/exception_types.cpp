// Kinds by base class; names by what Python shows.
#include "bridge/exception_types.h"

#include <string_view>
#include <unordered_map>
#include <utility>

namespace simple_torch::bridge {
namespace {

bool is_a(PyTypeObject* type, PyObject* base) {
  return PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(base)) != 0;
}

ErrorKind kind_of(PyTypeObject* type, std::string_view full_name) {
  if (full_name == "torch.OutOfMemoryError") {
    return ErrorKind::kOutOfMemory;
  }
  const std::pair<PyObject*, ErrorKind> known[] = {{PyExc_KeyboardInterrupt, ErrorKind::kInterrupted},
                                                   {PyExc_MemoryError, ErrorKind::kOutOfMemory},
                                                   {PyExc_OSError, ErrorKind::kIo},
                                                   {PyExc_IndexError, ErrorKind::kIndexOutOfRange},
                                                   {PyExc_ImportError, ErrorKind::kUnavailable},
                                                   {PyExc_NotImplementedError, ErrorKind::kNotImplemented}};
  for (const auto& [base, kind] : known) {
    if (is_a(type, base)) {
      return kind;
    }
  }
  return ErrorKind::kPython;
}

bool shows_more(PyTypeObject* type) {
#if PY_VERSION_HEX >= 0x030B0000
  if (is_a(type, PyExc_BaseExceptionGroup)) {
    return true;
  }
#endif
  return is_a(type, PyExc_SyntaxError) || is_a(type, PyExc_NameError) || is_a(type, PyExc_AttributeError) ||
         is_a(type, PyExc_ImportError);
}

ExceptionType looked_at(PyTypeObject* type) {
  auto* object = reinterpret_cast<PyObject*>(type);
  ExceptionType seen;
  seen.name = attribute_text(object, "__qualname__");
  seen.full_name = attribute_text(object, "__module__") + "." + seen.name;
  seen.kind = kind_of(type, seen.full_name);
  seen.shows_more = shows_more(type);
  seen.is_missing_module = is_a(type, PyExc_ModuleNotFoundError);
  seen.is_exit = is_a(type, PyExc_SystemExit);
  seen.is_runtime_error = object == PyExc_RuntimeError;
  return seen;
}

}  // namespace

const ExceptionType& exception_type(PyObject* exception, ExceptionType& room) {
  PyTypeObject* type = Py_TYPE(exception);
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
    return room = looked_at(type);
  }
  static auto& known = *new std::unordered_map<PyTypeObject*, ExceptionType>;  // guarded by the GIL
  const auto found = known.find(type);
  return found != known.end() ? found->second : known.emplace(type, looked_at(type)).first->second;
}

std::string text_of(PyObject* object) {
  if (object == nullptr) {
    return "";
  }
  const Ref text(PyObject_Str(object));
  Py_ssize_t size = 0;
  const char* utf8 = text ? PyUnicode_AsUTF8AndSize(text.get(), &size) : nullptr;
  if (utf8 == nullptr) {
    PyErr_Clear();
    return "";
  }
  return {utf8, static_cast<size_t>(size)};
}

std::string attribute_text(PyObject* object, const char* name) {
  const Ref value(PyObject_GetAttrString(object, name));
  if (!value) {
    PyErr_Clear();
    return "";
  }
  return value.get() == Py_None ? "" : text_of(value.get());
}

}  // namespace simple_torch::bridge
