// What Simple prints, in sys.stdout and sys.stderr: in a Python process, and while Python code has replaced
// them.
#pragma once

#include <cstddef>

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Writes UTF-8 text to sys.stdout (`stream` 1) or sys.stderr, whichever objects these are now. Nothing is
/// written where the stream is None. Returns 0, or 1 when Python raised an exception, also one of a signal
/// handler; the exception is kept, so that the Python caller of the Simple program gets it. A
/// KeyboardInterrupt stops the program instead. Acquires the GIL.
int write_to_python(int stream, const char* text, size_t size) noexcept;

/// The same under the GIL; false with an exception set.
bool write_to_stream(int stream, const char* text, size_t size);

/// In a program that started Python: while Python code has replaced sys.stdout or sys.stderr, the program's
/// output goes there. Both functions need the GIL.
bool watch_streams();             // false with an exception set
void unwatch_streams() noexcept;  // from now on the program's output is its own

#if PY_VERSION_HEX >= 0x030C0000
inline void look_at_streams() noexcept {}  // the interpreter reports a change
#else
/// Call it before Python returns to the program. Needs the GIL.
void look_at_streams() noexcept;
#endif

}  // namespace simple_torch::bridge
