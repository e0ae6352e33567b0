// What the type of an exception tells by itself.
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
  bool shows_more = false;  // than its type and message: Python has hints for it, or it has parts
  bool is_missing_module = false;
  bool is_exit = false;
  bool is_runtime_error = false;  // itself, and no type that is built on it
  bool is_plain = false;          // one of Python's own, of which nothing above is to be said
};

/// The caller holds the GIL. NULL where the type is none of those that last as long as Python: the others are
/// looked at once.
const ExceptionType* lasting_exception_type(PyTypeObject* type);

/// The same for all; of those that do not last `room` becomes the result.
const ExceptionType& exception_type(PyTypeObject* type, ExceptionType& room);

/// Clears the exception that pends, if one does, while something is told; a Ctrl-C is kept for
/// `take_interrupt_while_telling`.
void pass_over_exception() noexcept;

/// An object's text, "" when its __str__ fails; NUL and surrogates are escaped.
class Shown {
 public:
  explicit Shown(PyObject* object);
  std::string_view text() const noexcept { return text_; }

 private:
  Ref str_;
  std::string_view text_;
};

/// The same by itself; "" for NULL.
std::string text_of(PyObject* object);

/// The text of an attribute; "" when it is missing, None, or cannot be shown.
std::string attribute_text(PyObject* object, const char* name);

}  // namespace simple_torch::bridge
