// The error of a tokenizer, and the name of the operation that failed.
#pragma once

#include <stdexcept>
#include <string>

namespace spl::tokenizers {

enum class ErrorKind {
  kInvalidArgument,  // of a call
  kNotImplemented,   // a part of a file that this library does not have
  kIo,               // a file that cannot be read, or is broken
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace spl::tokenizers
