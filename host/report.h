// How a failed program is told on standard error.
#pragma once

#include <optional>
#include <string>

#include "host/values/error.h"

namespace spl {

/// The place, the message, the source line with a caret, the hint, and the Simple calls that led there.
/// `verbose` adds the library's frames, and what the payload's `details() -> text` tells.
std::string report_of(const SimpleError& error, bool verbose);

/// The same for a note on an exception of another language: all calls, even a single one, and nothing that
/// only report_of's `verbose` adds.
std::string note_of(const SimpleError& error);

/// The code that the program ends with, and nothing is told, where the payload's `exit_code()` gives one: of
/// a SystemExit that comes out of Python.
std::optional<int> exit_code_of(const SimpleError& error);

}  // namespace spl
