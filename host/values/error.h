// The one exception of the host: a Simple program failed.
#pragma once

#include <string>
#include <vector>

#include "host/values/value.h"

namespace spl {

struct StackEntry {
  std::string function;
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  bool library = false;   // below the library root
  uint32_t left_out = 0;  // calls between this entry and the next one, of a very deep stack
};

/// `payload` is what panic() was given, nil for errors of the runtime. The stack is innermost first.
/// `hint` says what to do where that is likely, else it is empty.
struct SimpleError {
  std::string message;
  std::string hint;
  Ref payload;
  std::vector<StackEntry> stack;
  bool located = false;
  bool too_deep = false;  // no room for another call

  explicit SimpleError(std::string text, std::string advice = "")
      : message(std::move(text)), hint(std::move(advice)) {}
};

/// What a Failure keeps of the error that it stands for.
struct Cause : Object {
  SimpleError error;
  explicit Cause(SimpleError from) : Object(Kind::kCause), error(std::move(from)) {}
};

/// For a call that there is no room for.
inline SimpleError too_deep() {
  SimpleError error("recursion too deep");
  error.too_deep = true;
  return error;
}

/// exit(code) unwinds as this, and Ctrl-C.
struct ExitRequest {
  int code;
  bool by_interrupt = false;
};
constexpr int kInterruptedCode = 130;  // of a program that Ctrl-C ended

/// What exit(code) is where it can end nothing but the thread that calls it.
inline SimpleError exit_refused(int code) {
  return SimpleError("exit(" + std::to_string(code) + ") was called",
                     "an embedded program cannot end the process");
}

[[noreturn]] void fail(std::string message, std::string hint = "");

}  // namespace spl
