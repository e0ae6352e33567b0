// SimpleError: the exception that a failing Simple program raises.
#pragma once

#include <string>
#include <vector>

#include "host/values/value.h"

namespace spl {

struct SourceFile;

struct StackEntry {
  std::string function;
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  bool library = false;                // in the .spl library
  const SourceFile* source = nullptr;  // sources of the same name differ; null if it is not known
  uint32_t left_out = 0;  // calls omitted between this entry and the next one, in a very deep stack
};

/// What other languages have classes of errors for.
enum class ErrorClass : uint8_t {
  kOther,
  kIndexOutOfRange,  // of an array, a tuple or a text
  kKey,              // that a dict does not have
  kDivisionByZero,
  kValue,      // of the right type, which the function cannot use
  kArguments,  // that do not fit the parameters of what is called, or that cannot be called
};

/// `payload` is the argument of panic(), nil for errors of the runtime. The stack is innermost first.
/// `hint` suggests a fix; it may be empty.
struct SimpleError {
  std::string message;
  std::string hint;
  Ref payload;
  std::vector<StackEntry> stack;
  bool located = false;
  bool too_deep = false;  // the stack is exhausted
  ErrorClass error_class = ErrorClass::kOther;

  explicit SimpleError(std::string text, std::string advice = "")
      : message(std::move(text)), hint(std::move(advice)) {}
};

/// The error behind a Failure value.
struct Cause : Object {
  SimpleError error;
  explicit Cause(SimpleError from) : Object(Kind::kCause), error(std::move(from)) {}
};

/// The error of a call that exceeds the stack.
inline SimpleError too_deep() {
  SimpleError error("recursion too deep");
  error.too_deep = true;
  return error;
}

/// Unwinds the stack for exit(code) and for SIGINT.
struct ExitRequest {
  int code;
  bool by_interrupt = false;
};
constexpr int kInterruptedCode = 130;  // exit status of an interrupted program

/// The error of exit(code) where it cannot end the process.
inline SimpleError exit_not_allowed(int code) {
  return SimpleError("exit(" + std::to_string(code) + ") was called",
                     "an embedded program cannot end the process");
}

/// Throws SimpleError.
[[noreturn]] void fail(std::string message, std::string hint = "");

/// As fail(), for arguments that do not fit the parameters of what is called.
[[noreturn]] void fail_arguments(std::string message, std::string hint = "");
[[noreturn]] void fail_value(std::string message, std::string hint = "");

/// The innermost stack entry outside the library, else the innermost one; null if the stack is empty.
const StackEntry* user_entry(const SimpleError& error);

}  // namespace spl
