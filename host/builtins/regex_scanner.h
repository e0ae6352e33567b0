// Reads a pattern or a replacement of std.regex by its tokens: characters, and escapes with their backslash.
#pragma once

#include <cstdint>
#include <string>

namespace spl {

class RegexScanner {
 public:
  /// `operation` begins the messages of errors.
  RegexScanner(const std::string& source, const char* operation);

  bool at_end() const { return next_.empty(); }
  const std::u32string& next() const { return next_; }
  bool next_is(char32_t c) const { return next_.size() == 1 && next_[0] == c; }
  bool next_is_one_of(std::u32string_view characters) const {
    return next_.size() == 1 && characters.find(next_[0]) != std::u32string_view::npos;
  }
  std::u32string get();
  bool match(char32_t c);
  std::u32string get_while(size_t limit, std::u32string_view characters);
  /// The name before `terminator`, which is consumed.
  std::u32string get_until(char32_t terminator, const std::string& name);
  size_t position() const { return index_ - next_.size(); }
  void seek(size_t index);

  /// Fails at a position `offset` characters before the next token.
  [[noreturn]] void error(const std::string& message, size_t offset = 0) const;
  [[noreturn]] void error_at(const std::string& message, size_t position) const;

 private:
  void advance();

  std::u32string source_;
  const char* operation_;
  size_t index_ = 0;
  std::u32string next_;
};

std::string to_utf8(std::u32string_view characters);
/// As repr() of Python.
std::string quoted_name(std::u32string_view name);
bool is_identifier(std::u32string_view name);
/// The number that the escapes \a, \b, \f, \n, \r, \t, \v and \\ stand for; -1 for others.
int32_t control_escape(char32_t letter);

inline constexpr std::u32string_view kOctalDigits = U"01234567";
inline constexpr std::u32string_view kDecimalDigits = U"0123456789";
inline constexpr std::u32string_view kHexDigits = U"0123456789abcdefABCDEF";
inline bool is_one_of(char32_t c, std::u32string_view characters) {
  return characters.find(c) != std::u32string_view::npos;
}
inline bool is_ascii_letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
/// The number of a text of digits; at most 2^53.
int64_t number_of(std::u32string_view digits, int base);

}  // namespace spl
