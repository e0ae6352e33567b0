// Characters of UTF-8 text. Bytes that are no UTF-8 count as characters of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spl {

/// In characters.
size_t utf8_length(std::string_view text);
/// The bytes of the character that starts at `at`.
size_t utf8_step(std::string_view text, size_t at);
/// The code point of the one character that is given.
uint32_t utf8_code(std::string_view character);
/// What is no code point becomes U+FFFD.
void append_utf8(std::string& out, uint32_t code);

}  // namespace spl
