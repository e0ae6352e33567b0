// What the host itself gives to programs: functions that every module sees, methods of the built-in types,
// and the natives behind the library's `extern fn` declarations.
#pragma once

#include <string>
#include <vector>

#include "../values/objects.h"

namespace spl {

/// Puts print, len, attempt … into builtins(). Call once, before any module is compiled.
void register_functions();

/// The host's own implementation of an `extern fn`, or nullptr.
const Native* host_extern(const std::string& name);

/// What the examples of all specs so far came to.
struct SpecTotals {
  int64_t passed = 0, failed = 0, skipped = 0, pending = 0;
};
SpecTotals& spec_totals();

/// What the command line gave to the program.
struct ProgramArguments {
  std::string program;  // path of the started .spl file
  std::vector<std::string> words;
  std::string spec_filter;
};
ProgramArguments& program_arguments();

/// The names a misspelt method of a built-in type could have meant.
std::vector<std::string> builtin_method_names(Value self);

}  // namespace spl
