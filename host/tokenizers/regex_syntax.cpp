// Oniguruma's syntax (that of Ruby) in PCRE2's. What the two read differently is translated or rejected.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "host/syntax/utf8.h"
#include "host/tokenizers/characters.h"
#include "host/tokenizers/pattern.h"

namespace spl::tokenizers {
namespace {

constexpr std::string_view kSpaces =
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{"
    "3000}";
constexpr std::string_view kNoSpaces =
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{84}\\x{86}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-"
    "\\x{2027}"
    "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{10ffff}";
constexpr std::string_view kHexDigits = "0-9A-Fa-f";

constexpr std::array<std::string_view, 31> kCategories = {
    "L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N",  "Nd", "Nl", "No", "P", "Pc",
    "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z",  "Zs", "Zl", "Zp"};
constexpr std::array<std::string_view, 11> kScripts = {"Arabic",   "Cyrillic", "Devanagari", "Greek",
                                                       "Han",      "Hangul",   "Hebrew",     "Hiragana",
                                                       "Katakana", "Latin",    "Thai"};
// Oniguruma folds these pairs to one character too, such as "ss" to a sharp s.
constexpr std::array<std::string_view, 5> kFoldedPairs = {"ss", "ff", "fi", "fl", "st"};

std::string in_hex(char32_t code) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "\\x{%x}", static_cast<unsigned>(code));
  return text.data();
}

std::string with_new_characters(std::string items, std::string_view category) {
  for (const auto& [first, last] : new_characters(category)) {
    items += in_hex(first) + "-" + in_hex(last);
  }
  return items;
}

std::string word_items() {
  static const std::string items = [] {
    std::string all = "\\p{L}\\p{M}\\p{Nd}\\p{Pc}";
    for (const std::string_view part : {"L", "M", "Nd", "Pc", "Word"}) {
      all = with_new_characters(all, part);
    }
    return all;
  }();
  return items;
}

class Translator {
 public:
  Translator(const std::string& expression, const std::string& place) : in_(expression), place_(place) {}

  std::string run() {
    if (in_.find("(?i") != std::string::npos) {
      check_case_folding();
    }
    while (!at_end()) {
      step();
    }
    return out_;
  }

 private:
  bool at_end() const { return at_ >= in_.size(); }
  char peek(size_t ahead = 0) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
  bool skip(std::string_view expected) {
    const bool is_next = std::string_view(in_).substr(at_, expected.size()) == expected;
    at_ += is_next ? expected.size() : 0;
    return is_next;
  }
  [[noreturn]] void reject(const std::string& construct) const {
    fail_unsupported(place_, construct + " is not supported in the regular expression '" + in_ + "'");
  }

  void check_case_folding() const {
    std::string lower = in_;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    for (const std::string_view pair : kFoldedPairs) {
      if (lower.find(pair) != std::string::npos) {
        reject("'" + std::string(pair) + "' with (?i)");
      }
    }
    if (!is_ascii(in_)) {
      reject("a character outside of ASCII with (?i)");
    }
  }

  void step() {
    switch (peek()) {
      case '\\':
        escape(false);
        break;
      case '[':
        character_class();
        break;
      case '(':
        open_group();
        break;
      case '{':
        braces();
        break;
      default:
        copy_character();
    }
  }

  void copy_character() {
    const size_t size = utf8_step(in_, at_);
    out_.append(in_, at_, size);
    at_ += size;
  }

  void open_group() {
    ++at_;
    out_ += '(';
    if (peek() != '?') {
      return;
    }
    for (const std::string_view kind : {"?:", "?=", "?!", "?>", "?<=", "?<!", "?i:", "?i)", "?-i:", "?-i)"}) {
      if (skip(kind)) {
        out_ += kind;
        return;
      }
    }
    reject("the group '(" + in_.substr(at_, 3) + "'");
  }

  // {n}, {n,}, {n,m} and {,m} repeat; other braces are characters.
  void braces() {
    const size_t end = in_.find('}', at_);
    const std::string inner = end == std::string::npos ? "," : in_.substr(at_ + 1, end - at_ - 1);
    const bool is_count = inner != "," && !inner.empty() &&
                          inner.find_first_not_of("0123456789,") == std::string::npos &&
                          std::count(inner.begin(), inner.end(), ',') <= 1;
    if (!is_count) {
      out_ += "\\{";
      ++at_;
      return;
    }
    out_ += inner.front() == ',' ? "{0" + inner + "}" : "{" + inner + "}";
    at_ = end + 1;
    const bool is_exact = inner.find(',') == std::string::npos;
    if (peek() == '+' || (peek() == '?' && is_exact)) {
      reject("'" + std::string(1, peek()) + "' after '{" + inner + "}'");
    }
  }

  void character_class() {
    ++at_;
    out_ += '[';
    if (skip("^")) {
      out_ += '^';
    }
    if (peek() == ']') {
      reject("']' at the start of a character class");
    }
    while (peek() != ']') {
      if (at_end()) {
        fail_broken(place_,
                    "invalid regular expression '" + in_ + "': missing terminating ] for character class");
      }
      if (peek() == '[' || std::string_view(in_).substr(at_, 2) == "&&") {
        reject("'" + in_.substr(at_, 2) + "' in a character class");
      }
      if (peek() == '\\') {
        escape(true);
      } else {
        copy_character();
      }
    }
    ++at_;
    out_ += ']';
  }

  /// Items of a class. Outside of a class they are one.
  void add_items(std::string_view items, bool in_class, bool negated = false) {
    if (in_class && negated) {
      reject("a negated class inside of a character class");
    }
    out_ += in_class ? std::string(items) : (negated ? "[^" : "[") + std::string(items) + "]";
  }

  void escape(bool in_class) {
    ++at_;
    const char c = peek();
    if (at_end()) {
      fail_broken(place_, "invalid regular expression '" + in_ + "': \\ at end of pattern");
    }
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      out_ += '\\';
      if ((static_cast<unsigned char>(c) & 0x80U) != 0) {
        out_.pop_back();  // PCRE2 has no escapes outside of ASCII
      }
      copy_character();
      return;
    }
    ++at_;
    if (!control_escape(c, in_class) && !class_escape(c, in_class) && !place_escape(c, in_class)) {
      reject("'\\" + std::string(1, c) + "'");
    }
  }

  bool control_escape(char c, bool in_class) {
    constexpr std::string_view kNames = "nrtfvae";
    constexpr std::array<char32_t, 7> kCodes = {0xa, 0xd, 0x9, 0xc, 0xb, 0x7, 0x1b};
    const size_t known = kNames.find(c);
    if (known != std::string_view::npos) {
      out_ += in_hex(kCodes[known]);
      return true;
    }
    if (c == 'b' && in_class) {
      out_ += in_hex(8);
      return true;
    }
    return (c == 'x' || c == 'u') && code_escape(c);
  }

  // \xHH below 80, \x{H…} and \uHHHH.
  bool code_escape(char c) {
    const size_t close = in_.find('}', at_);
    const bool is_braced = c == 'x' && peek() == '{' && close != std::string::npos;
    const std::string digits =
        is_braced ? in_.substr(at_ + 1, close - at_ - 1) : in_.substr(at_, c == 'x' ? 2 : 4);
    const bool is_hex = !digits.empty() && digits.size() <= 6 &&
                        digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos &&
                        (is_braced || digits.size() == (c == 'x' ? 2 : 4));
    if (!is_hex) {
      return false;
    }
    const auto code = static_cast<char32_t>(std::stoul(digits, nullptr, 16));
    if (c == 'x' && !is_braced && code >= 0x80) {
      return false;  // a byte of a character
    }
    at_ = is_braced ? close + 1 : at_ + digits.size();
    out_ += in_hex(code);
    return true;
  }

  bool class_escape(char c, bool in_class) {
    switch (c) {
      case 's':
        add_items(kSpaces, in_class);
        return true;
      case 'S':
        add_items(kNoSpaces, in_class);
        return true;
      case 'd':
      case 'D':
        add_items(with_new_characters("\\p{Nd}", "Nd"), in_class, c == 'D');
        return true;
      case 'w':
      case 'W':
        add_items(word_items(), in_class, c == 'W');
        return true;
      case 'h':
      case 'H':
        add_items(kHexDigits, in_class, c == 'H');
        return true;
      case 'p':
      case 'P':
        property(c == 'P', in_class);
        return true;
      default:
        return false;
    }
  }

  bool place_escape(char c, bool in_class) {
    if (in_class) {
      return false;
    }
    if (c == 'A' || c == 'z' || c == 'Z') {
      out_ += std::string("\\") + c;
      return true;
    }
    if (c == 'b' || c == 'B') {
      const std::string word = "[" + word_items() + "]";
      const bool at_edge = c == 'b';
      out_ += "(?:(?<=" + word + ")(?" + (at_edge ? "!" : "=") + word + ")|(?<!" + word + ")(?" +
              (at_edge ? "=" : "!") + word + "))";
      return true;
    }
    return false;
  }

  void property(bool negated, bool in_class) {
    const size_t close = in_.find('}', at_);
    if (peek() != '{' || close == std::string::npos) {
      reject("'\\p' without braces");
    }
    std::string name = in_.substr(at_ + 1, close - at_ - 1);
    if (name.starts_with('^')) {
      negated = !negated;
      name.erase(0, 1);
    }
    at_ = close + 1;
    const bool is_category = std::find(kCategories.begin(), kCategories.end(), name) != kCategories.end();
    const bool is_script = std::find(kScripts.begin(), kScripts.end(), name) != kScripts.end();
    if (!is_category && !is_script) {
      reject("the property '" + name + "'");
    }
    const std::string known = is_script ? "\\p{sc:" + name + "}" : "\\p{" + name + "}";
    add_items(with_new_characters(known, name), in_class, negated);
  }

  const std::string& in_;
  const std::string& place_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string translated_regex(const std::string& expression, const std::string& place) {
  return Translator(expression, place).run();
}

}  // namespace spl::tokenizers
