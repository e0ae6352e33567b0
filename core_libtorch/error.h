// The one exception type that this project throws on purpose.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "core_libtorch/error_kinds.h"

namespace simple_torch {

/// What a program may want to read apart from the message. Empty or -1: not known, or does not apply.
struct ErrorFields {
  std::string op;        // "matmul"
  std::string expected;  // text form of a shape, dtype or device
  std::string got;
  int64_t requested_bytes = -1;
  int64_t available_bytes = -1;
  std::string type;       // qualified name of a Python exception's type
  std::string traceback;  // of a Python exception
};

/// Everything we throw on purpose. Programs branch on kind(), people read what().
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Error(ErrorKind kind, const std::string& message, ErrorFields fields)
      : std::runtime_error(message), kind_(kind), fields_(std::move(fields)) {}

  ErrorKind kind() const noexcept { return kind_; }
  const ErrorFields& fields() const noexcept { return fields_; }

 private:
  ErrorKind kind_;
  ErrorFields fields_;
};

}  // namespace simple_torch
