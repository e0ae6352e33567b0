// Characters of UTF-8 text. A byte that is not valid UTF-8 counts as a character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spl {

constexpr int64_t kMaxCodePoint = 0x10FFFF;

/// The length in characters.
size_t utf8_length(std::string_view text);
/// The number of bytes of the character that starts at `at`.
size_t utf8_step(std::string_view text, size_t at);
/// The code point of `character`, which is a single character.
uint32_t utf8_code(std::string_view character);
/// Appends a code point; an invalid one becomes U+FFFD.
void append_utf8(std::string& out, uint32_t code);

}  // namespace spl
