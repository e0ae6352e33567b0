// Properties of exception types: name, error kind, and whether the error needs a full traceback.
#pragma once

#include <string>
#include <string_view>

#include "bridge/objects/errors.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

struct ExceptionType {
  std::string full_name;  // builtins.KeyError
  std::string name;       // KeyError
  ErrorKind kind = ErrorKind::kPython;
  bool has_details = false;  // Python prints more than type and message: a hint or sub-exceptions
  bool is_missing_module = false;
  bool is_system_exit = false;
  bool is_runtime_error = false;  // exactly RuntimeError, not a subclass
  bool is_plain = false;          // a built-in type without any of the properties above
};

/// The cached properties of a static type, which lives as long as Python; NULL for heap types. The caller
/// holds the GIL.
const ExceptionType* static_exception_type(PyTypeObject* type);

/// The properties of any type; for a heap type they are stored in `storage`.
const ExceptionType& exception_type(PyTypeObject* type, ExceptionType& storage);

/// Clears the current exception, if any, while an error is described. A KeyboardInterrupt is remembered for
/// `take_report_interrupt`.
void discard_exception() noexcept;

/// str(object), or "" when __str__ fails. NUL and surrogates are escaped.
class DisplayText {
 public:
  explicit DisplayText(PyObject* object);
  std::string_view text() const noexcept { return text_; }

 private:
  Ref str_;
  std::string_view text_;
};

/// DisplayText as a std::string; "" for NULL.
std::string text_of(PyObject* object);

/// str() of an attribute; "" when it is missing, None, or not displayable.
std::string attribute_text(PyObject* object, const char* name);

}  // namespace simple_torch::bridge
