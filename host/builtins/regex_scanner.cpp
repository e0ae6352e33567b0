#include "host/builtins/regex_scanner.h"

#include <algorithm>

#include "host/syntax/utf8.h"
#include "host/values/error.h"

namespace spl {
namespace {

std::u32string decoded(const std::string& source, const char* operation) {
  std::u32string characters;
  for (size_t at = 0; at < source.size();) {
    const size_t step = utf8_step(source, at);
    if (step == 1 && static_cast<unsigned char>(source[at]) >= 0x80) {
      fail(std::string(operation) + ": the text is not valid UTF-8 at byte " + std::to_string(at));
    }
    characters += static_cast<char32_t>(utf8_code(std::string_view(source).substr(at, step)));
    at += step;
  }
  return characters;
}

}  // namespace

RegexScanner::RegexScanner(const std::string& source, const char* operation)
    : source_(decoded(source, operation)), operation_(operation) {
  advance();
}

void RegexScanner::advance() {
  if (index_ >= source_.size()) {
    next_.clear();
    return;
  }
  const size_t size = source_[index_] == '\\' ? 2 : 1;
  if (index_ + size > source_.size()) {
    error_at("bad escape (end of pattern)", source_.size() - 1);
  }
  next_ = source_.substr(index_, size);
  index_ += size;
}

std::u32string RegexScanner::get() {
  std::u32string token = next_;
  advance();
  return token;
}

bool RegexScanner::match(char32_t c) {
  const bool is_next = next_is(c);
  if (is_next) {
    advance();
  }
  return is_next;
}

std::u32string RegexScanner::get_while(size_t limit, std::u32string_view characters) {
  std::u32string result;
  while (result.size() < limit && next_is_one_of(characters)) {
    result += get();
  }
  return result;
}

std::u32string RegexScanner::get_until(char32_t terminator, const std::string& name) {
  std::u32string result;
  while (true) {
    if (at_end()) {
      if (result.empty()) {
        error("missing " + name);
      }
      error("missing " + to_utf8(std::u32string(1, terminator)) + ", unterminated name", result.size());
    }
    if (match(terminator)) {
      if (result.empty()) {
        error("missing " + name, 1);
      }
      return result;
    }
    result += get();
  }
}

void RegexScanner::seek(size_t index) {
  index_ = index;
  advance();
}

void RegexScanner::error(const std::string& message, size_t offset) const {
  error_at(message, position() - offset);
}

void RegexScanner::error_at(const std::string& message, size_t position) const {
  std::string place = " at position " + std::to_string(position);
  if (source_.find(U'\n') != std::u32string::npos) {
    const std::u32string before = source_.substr(0, position);
    const auto line = std::count(before.begin(), before.end(), U'\n') + 1;
    const size_t line_end = before.rfind(U'\n');
    const size_t column = line_end == std::u32string::npos ? position + 1 : position - line_end;
    place += " (line " + std::to_string(line) + ", column " + std::to_string(column) + ")";
  }
  fail(std::string(operation_) + ": " + message + place);
}

std::string to_utf8(std::u32string_view characters) {
  std::string out;
  for (const char32_t c : characters) {
    append_utf8(out, c);
  }
  return out;
}

std::string quoted_name(std::u32string_view name) {
  const bool has_single = name.find(U'\'') != std::u32string_view::npos;
  const char quote = has_single && name.find(U'"') == std::u32string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char32_t c : name) {
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out += '\\';
    }
    append_utf8(out, c);
  }
  return out + quote;
}

bool is_identifier(std::u32string_view name) {
  const auto is_part = [](char32_t c) {
    return is_ascii_letter(c) || c == '_' || c >= 0x80 || is_one_of(c, kDecimalDigits);
  };
  return !name.empty() && !is_one_of(name[0], kDecimalDigits) &&
         std::all_of(name.begin(), name.end(), is_part);
}

int32_t control_escape(char32_t letter) {
  constexpr std::u32string_view kLetters = U"abfnrtv\\";
  constexpr std::u32string_view kCodes = U"\a\b\f\n\r\t\v\\";
  const size_t at = kLetters.find(letter);
  return at == std::u32string_view::npos ? -1 : static_cast<int32_t>(kCodes[at]);
}

int64_t number_of(std::u32string_view digits, int base) {
  constexpr int64_t kLimit = int64_t{1} << 53;
  int64_t number = 0;
  for (const char32_t c : digits) {
    const char32_t lower = c | 0x20U;
    number =
        std::min(number * base + static_cast<int64_t>(lower >= 'a' ? lower - 'a' + 10 : c - '0'), kLimit);
  }
  return number;
}

}  // namespace spl
