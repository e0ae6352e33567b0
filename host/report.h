// Error reports on standard error.
#pragma once

#include <optional>
#include <string>

#include "host/values/error.h"

namespace spl {

/// The position, the message, the source line with a caret, the hint (of the host, or what the payload's
/// `hint() -> text` returns), the lines that the payload's `related() -> [text]` returns, and the stack of
/// calls. `verbose` adds the library's frames and the result of the payload's `details() -> text`.
std::string report_of(const SimpleError& error, bool verbose);

/// The report as a note on an exception of another language: always with the stack, never verbose.
std::string note_of(const SimpleError& error);

/// Calls the payload's `__shown__()` after the report was printed: Python's debugger then finds its exception.
void note_shown(const SimpleError& error);

/// The exit code if the payload's `exit_code()` returns one, as Python's SystemExit does. Such an error is
/// not printed.
std::optional<int> exit_code_of(const SimpleError& error);

}  // namespace spl
