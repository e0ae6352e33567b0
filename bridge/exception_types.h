// What the type of an exception tells by itself.
#pragma once

#include <string>

#include "bridge/errors.h"
#include "bridge/python.h"

namespace simple_torch::bridge {

struct ExceptionType {
  std::string full_name;  // builtins.KeyError
  std::string name;       // KeyError
  ErrorKind kind = ErrorKind::kPython;
  bool shows_more = false;  // than its type and message: Python has hints for it, or it has parts
  bool is_missing_module = false;
  bool is_exit = false;
  bool is_runtime_error = false;  // itself, and no type that is built on it
};

/// The caller holds the GIL. Python's own types are looked at once; of others `room` becomes the result.
const ExceptionType& exception_type(PyObject* exception, ExceptionType& room);

/// The object's text, or "" when its __str__ fails or cannot be encoded.
std::string text_of(PyObject* object);

/// The text of an attribute; "" when it is missing, None, or cannot be shown.
std::string attribute_text(PyObject* object, const char* name);

}  // namespace simple_torch::bridge
