// Classes of characters and mappings between them, as Hugging Face's `tokenizers` has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spl::tokenizers {

/// The character at `at` of valid UTF-8; moves `at` behind it.
char32_t next_character(std::string_view text, size_t& at);
/// The number of bytes of a character in UTF-8.
size_t utf8_size(char32_t character);
bool is_valid_utf8(std::string_view text);
bool is_ascii(std::string_view text);

bool is_white_space(char32_t c);
bool is_punctuation(char32_t c);
bool is_control(char32_t c);
bool is_chinese(char32_t c);
bool is_accent(char32_t c);
bool is_combining_mark(char32_t c);
bool is_numeral(char32_t c);
bool is_word_character(char32_t c);

/// Appends the small letters of `c`: one character, or several.
void append_lowercase(char32_t c, std::u32string& out);

/// A character of a changed text, and how it came about: 0 replaces the next old character, a positive number
/// inserts, and -N replaces one and removes the N that follow it.
struct Change {
  char32_t code;
  int change;
};

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };
std::vector<Change> normalized(const std::u32string& text, NormalForm form);

/// Ranges of a category of PCRE2's \p{…}, such as "L", "Lu" or "Han", that a newer Unicode has added.
std::vector<std::pair<char32_t, char32_t>> new_characters(std::string_view category);

}  // namespace spl::tokenizers
