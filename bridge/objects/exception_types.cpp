// Error kinds by base class; names as Python prints them.
#include "bridge/objects/exception_types.h"

#include <string_view>
#include <unordered_map>
#include <utility>

namespace simple_torch::bridge {
namespace {

// The initial-exec model needs no call; it is safe because this library is never unloaded.
[[gnu::tls_model("initial-exec")]] thread_local bool interrupted_during_report = false;

bool is_a(PyTypeObject* type, PyObject* base) {
  return PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(base)) != 0;
}

ErrorKind kind_of(PyTypeObject* type, std::string_view full_name) {
  if (full_name == "torch.OutOfMemoryError") {
    return ErrorKind::kOutOfMemory;
  }
  if (full_name == "torch._C._LinAlgError") {
    return ErrorKind::kLinAlg;
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

bool has_details(PyTypeObject* type) {
#if PY_VERSION_HEX >= 0x030B0000
  if (is_a(type, PyExc_BaseExceptionGroup)) {
    return true;
  }
#endif
  return is_a(type, PyExc_SyntaxError) || is_a(type, PyExc_NameError) || is_a(type, PyExc_AttributeError) ||
         is_a(type, PyExc_ImportError);
}

ExceptionType describe_type(PyTypeObject* type) {
  auto* object = reinterpret_cast<PyObject*>(type);
  ExceptionType result;
  result.name = attribute_text(object, "__qualname__");
  result.full_name = attribute_text(object, "__module__") + "." + result.name;
  result.kind = kind_of(type, result.full_name);
  result.has_details = has_details(type);
  result.is_missing_module = is_a(type, PyExc_ModuleNotFoundError);
  result.is_system_exit = is_a(type, PyExc_SystemExit);
  result.is_runtime_error = object == PyExc_RuntimeError;
  result.is_plain = result.full_name == "builtins." + result.name && !result.has_details &&
                    !result.is_missing_module && !result.is_system_exit && !result.is_runtime_error &&
                    result.kind != ErrorKind::kOutOfMemory;
  return result;
}

/// data() is NULL, with an exception set, when the string cannot be encoded.
std::string_view utf8_of(PyObject* text) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size);
  return utf8 == nullptr ? std::string_view() : std::string_view(utf8, static_cast<size_t>(size));
}

/// Escapes what a C string or UTF-8 cannot hold: NUL, and surrogates such as in undecodable file names.
Ref escaped(PyObject* text) {
  const Ref bytes(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  const Ref valid(bytes ? PyUnicode_FromEncodedObject(bytes.get(), "utf-8", "strict") : nullptr);
  const Ref nul(PyUnicode_FromStringAndSize("\0", 1));
  const Ref escape(PyUnicode_FromString("\\x00"));
  return Ref(valid && nul && escape ? PyUnicode_Replace(valid.get(), nul.get(), escape.get(), -1) : nullptr);
}

}  // namespace

void discard_exception() noexcept {
  if (PyErr_Occurred() != nullptr) {
    interrupted_during_report |= PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
    PyErr_Clear();
  }
}

bool has_report_interrupt() noexcept { return interrupted_during_report; }

bool take_report_interrupt() noexcept { return std::exchange(interrupted_during_report, false); }

const ExceptionType* static_exception_type(PyTypeObject* type) {
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
    return nullptr;
  }
  static auto& known =
      *new std::unordered_map<PyTypeObject*, ExceptionType>;  // guarded by the GIL, like `last`
  static std::pair<PyTypeObject*, const ExceptionType*>
      last;  // the same type often comes several times in a row
  if (last.first != type) {
    auto found = known.find(type);
    if (found == known.end()) {
      found = known.emplace(type, describe_type(type)).first;
    }
    last = {type, &found->second};
  }
  return last.second;
}

const ExceptionType& exception_type(PyTypeObject* type, ExceptionType& storage) {
  const ExceptionType* cached = static_exception_type(type);
  return cached != nullptr ? *cached : storage = describe_type(type);
}

DisplayText::DisplayText(PyObject* object) : str_(PyObject_Str(object)) {
  if (str_) {
    text_ = utf8_of(str_.get());
  }
  if (str_ && (text_.data() == nullptr || text_.find('\0') != std::string_view::npos)) {
    discard_exception();
    str_ = escaped(str_.get());
    text_ = str_ ? utf8_of(str_.get()) : std::string_view();
  }
  discard_exception();
}

std::string text_of(PyObject* object) {
  return object == nullptr ? std::string() : std::string(DisplayText(object).text());
}

std::string attribute_text(PyObject* object, const char* name) {
  const Ref value(PyObject_GetAttrString(object, name));
  if (!value) {
    discard_exception();
    return "";
  }
  return value.get() == Py_None ? "" : text_of(value.get());
}

}  // namespace simple_torch::bridge
