// What a program prints, and what the host tells of it.
#pragma once

#include <string_view>

namespace spl {

/// For standard output.
void print_text(std::string_view text);
/// For standard error, after what was printed before.
void tell(std::string_view text);
void flush_output();

/// Where both go in a process that is another program's. Called without the host lock, on any thread.
/// 1: output, 2: errors. 0, or another number where the text was not taken.
using Writer = int (*)(int stream, const char* text, size_t size);
void write_by(Writer writer);

}  // namespace spl
