// Kinds by base class; names by what Python shows.
#include "bridge/objects/exception_types.h"

#include <string_view>
#include <unordered_map>
#include <utility>

namespace simple_torch::bridge {
namespace {

// Of the initial-exec model, which needs no call: this library is never unloaded.
[[gnu::tls_model("initial-exec")]] thread_local bool interrupted_while_telling = false;

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
  seen.is_plain = seen.full_name == "builtins." + seen.name && !seen.shows_more && !seen.is_missing_module &&
                  !seen.is_exit && !seen.is_runtime_error && seen.kind != ErrorKind::kOutOfMemory;
  return seen;
}

/// Without data, and with an exception pending, where it has no UTF-8.
std::string_view utf8_of(PyObject* text) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size);
  return utf8 == nullptr ? std::string_view() : std::string_view(utf8, static_cast<size_t>(size));
}

/// With escapes for what C's texts and UTF-8 cannot hold: NUL, and surrogates as of broken file names.
Ref readable(PyObject* text) {
  const Ref bytes(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  const Ref valid(bytes ? PyUnicode_FromEncodedObject(bytes.get(), "utf-8", "strict") : nullptr);
  const Ref nul(PyUnicode_FromStringAndSize("\0", 1));
  const Ref escape(PyUnicode_FromString("\\x00"));
  return Ref(valid && nul && escape ? PyUnicode_Replace(valid.get(), nul.get(), escape.get(), -1) : nullptr);
}

}  // namespace

void pass_over_exception() noexcept {
  if (PyErr_Occurred() != nullptr) {
    interrupted_while_telling |= PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
    PyErr_Clear();
  }
}

bool is_interrupted_while_telling() noexcept { return interrupted_while_telling; }

bool take_interrupt_while_telling() noexcept { return std::exchange(interrupted_while_telling, false); }

const ExceptionType* lasting_exception_type(PyTypeObject* type) {
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
    return nullptr;
  }
  static auto& known =
      *new std::unordered_map<PyTypeObject*, ExceptionType>;   // guarded by the GIL, as `last`
  static std::pair<PyTypeObject*, const ExceptionType*> last;  // the same one comes in rows
  if (last.first != type) {
    auto found = known.find(type);
    if (found == known.end()) {
      found = known.emplace(type, looked_at(type)).first;
    }
    last = {type, &found->second};
  }
  return last.second;
}

const ExceptionType& exception_type(PyTypeObject* type, ExceptionType& room) {
  const ExceptionType* lasting = lasting_exception_type(type);
  return lasting != nullptr ? *lasting : room = looked_at(type);
}

Shown::Shown(PyObject* object) : str_(PyObject_Str(object)) {
  if (str_) {
    text_ = utf8_of(str_.get());
  }
  if (str_ && (text_.data() == nullptr || text_.find('\0') != std::string_view::npos)) {
    pass_over_exception();
    str_ = readable(str_.get());
    text_ = str_ ? utf8_of(str_.get()) : std::string_view();
  }
  pass_over_exception();
}

std::string text_of(PyObject* object) {
  return object == nullptr ? std::string() : std::string(Shown(object).text());
}

std::string attribute_text(PyObject* object, const char* name) {
  const Ref value(PyObject_GetAttrString(object, name));
  if (!value) {
    pass_over_exception();
    return "";
  }
  return value.get() == Py_None ? "" : text_of(value.get());
}

}  // namespace simple_torch::bridge
