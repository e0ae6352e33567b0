// What Simple prints in a Python process: sys.stdout and sys.stderr.
#pragma once

#include <cstddef>

namespace simple_torch::bridge {

/// Writes UTF-8 text to sys.stdout (`stream` 1) or sys.stderr, whichever objects these are now. Nothing is
/// written where the stream is None. Returns 0, or 1 when Python raised an exception, also one of a signal
/// handler; the exception is kept, so that the Python caller of the Simple program gets it. A
/// KeyboardInterrupt stops the program instead. Acquires the GIL.
int write_to_python(int stream, const char* text, size_t size) noexcept;

}  // namespace simple_torch::bridge
