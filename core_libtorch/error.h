// The exception type of this project.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "core_libtorch/error_kinds.h"

namespace simple_torch {

/// Structured details next to the message. Empty or -1: unknown or not applicable.
struct ErrorFields {
  std::string op;        // "matmul"
  std::string expected;  // text form of a shape, dtype or device
  std::string got;
  int64_t requested_bytes = -1;
  int64_t available_bytes = -1;
  std::string type;       // qualified name of a Python exception's type
  std::string traceback;  // of a Python exception
};

/// Every exception that this project throws. Programs branch on kind(); what() is the message for people.
class Error : public std::runtime_error {
 public:
  [[gnu::noinline, gnu::cold]] Error(ErrorKind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}
  [[gnu::noinline, gnu::cold]] Error(ErrorKind kind, const std::string& message, ErrorFields fields)
      : std::runtime_error(message), kind_(kind), fields_(std::move(fields)) {}

  ErrorKind kind() const noexcept { return kind_; }
  const ErrorFields& fields() const noexcept { return fields_; }

 private:
  ErrorKind kind_;
  ErrorFields fields_;
};

}  // namespace simple_torch
