// Output of the program, and diagnostics of the host.
#pragma once

#include <string_view>

namespace spl {

/// Call before anything replaces the action of SIGPIPE, which Python ignores. A write to a closed pipe ends
/// the process by SIGPIPE if that is the action now, and raises an error otherwise.
void note_pipe_signal();

/// Writes to standard output. Raises an error if the write fails.
void print_text(std::string_view text);
/// Writes to standard error, after flushing standard output.
void print_diagnostic(std::string_view text);
/// Raises an error if the write fails.
void flush_output();

/// Receives both in an embedding program. Called on any thread without the host lock. `stream`: 1 for output,
/// 2 for errors. Returns 0 on success.
using Writer = int (*)(int stream, const char* text, size_t size);
void set_writer(Writer writer);

}  // namespace spl
