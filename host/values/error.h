// The one exception of the host: a Simple program failed.
#pragma once

#include <string>
#include <vector>

#include "value.h"

namespace spl {

struct StackEntry {
  std::string function;
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  bool library = false;  // below the library root
};

/// `payload` is what panic() was given, nil for errors of the runtime. The stack is innermost first.
struct SimpleError {
  std::string message;
  Ref payload;
  std::vector<StackEntry> stack;
  bool located = false;

  explicit SimpleError(std::string text) : message(std::move(text)) {}
};

/// exit(code) unwinds as this.
struct ExitRequest {
  int code;
};

[[noreturn]] void fail(std::string message);

}  // namespace spl
