// How a failed program is told on standard error.
#pragma once

#include <string>

#include "values/error.h"

namespace spl {

/// The place, the message, the source line with a caret, the hint, and the Simple calls that led there.
/// `verbose` adds the library's frames, and what the payload's `details() -> text` tells.
std::string report_of(const SimpleError& error, bool verbose);

}  // namespace spl
