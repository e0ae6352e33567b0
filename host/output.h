// Output of the program, and diagnostics of the host.
#pragma once

#include <string_view>

namespace spl {

/// Call before anything replaces the action of SIGPIPE, which Python ignores. A write to a closed pipe ends
/// the process by SIGPIPE if that is the action now, and raises an error otherwise.
void note_pipe_signal();

/// Writes to standard output. Raises an error if the write fails.
void print_text(std::string_view text);
/// Writes to standard error, after flushing standard output. Raises an error if either fails.
void print_error_text(std::string_view text);
/// The same for the host's own messages: a failure is ignored, but see flush_or_note().
void print_diagnostic(std::string_view text);
/// Raises an error if the write fails, or if flush_or_note() failed earlier.
void flush_output();
/// Flushes standard output where no error can be raised. The next write, or the end of the program, reports a
/// failure: the C library has dropped the text.
void flush_or_note();
/// Flushes at the end of the program. Returns its exit code: 1 instead of 0 if output was lost, which is
/// reported on standard error.
int flush_at_end(int code);

/// Receives both in an embedding program. Called on any thread without the host lock. `stream`: 1 for output,
/// 2 for errors. Returns 0 on success.
using Writer = int (*)(int stream, const char* text, size_t size);
void set_writer(Writer writer);

/// Returns the writer of a stream that a library has replaced, or null. Such a writer returns -1 if it cannot
/// be used; the text then goes to the program's own stream.
using WriterSource = Writer (*)(int stream);
void set_writer_source(WriterSource source);

}  // namespace spl
