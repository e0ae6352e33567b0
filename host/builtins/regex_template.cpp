// Replacements of std.regex, as parse_template() of CPython 3.11's re/_parser.py.
#include <utility>

#include "host/builtins/regex_scanner.h"
#include "host/builtins/regex_syntax.h"
#include "host/values/error.h"

namespace spl {
namespace {

class TemplateParser {
 public:
  TemplateParser(const std::string& source, const RegexTranslation& pattern)
      : source_(source, "regex.sub"), pattern_(pattern) {}

  RegexTemplate parse() {
    while (!source_.at_end()) {
      const std::u32string token = source_.get();
      if (token.size() == 2) {
        take_escape(token);
      } else {
        text_ += to_utf8(token);
      }
    }
    pieces_.emplace_back(std::move(text_), -1);
    return std::move(pieces_);
  }

 private:
  void take_escape(std::u32string escape) {
    const char32_t c = escape[1];
    if (c == 'g') {
      return take_name();
    }
    if (c == '0') {
      escape += source_.get_while(2, kOctalDigits);
      return take_code(number_of(escape.substr(1), 8) & 0xff);
    }
    if (is_one_of(c, kDecimalDigits)) {
      return take_digits(escape);
    }
    if (const int32_t code = control_escape(c); code >= 0) {
      return take_code(code);
    }
    if (is_ascii_letter(c)) {
      source_.error("bad escape " + to_utf8(escape), escape.size());
    }
    text_ += to_utf8(escape);
  }

  void take_code(int64_t code) { text_ += to_utf8(std::u32string(1, static_cast<char32_t>(code))); }

  void take_digits(std::u32string escape) {
    if (source_.next_is_one_of(kDecimalDigits)) {
      escape += source_.get();
      if (is_one_of(escape[1], kOctalDigits) && is_one_of(escape[2], kOctalDigits) &&
          source_.next_is_one_of(kOctalDigits)) {
        escape += source_.get();
        const int64_t code = number_of(escape.substr(1), 8);
        if (code > 0377) {
          source_.error("octal escape value " + to_utf8(escape) + " outside of range 0-0o377", escape.size());
        }
        return take_code(code);
      }
    }
    add_group(number_of(escape.substr(1), 10), escape.size() - 1);
  }

  void take_name() {
    if (!source_.match('<')) {
      source_.error("missing <");
    }
    const std::u32string name = source_.get_until('>', "group name");
    if (is_identifier(name)) {
      const int group = pattern_.group_of(to_utf8(name));
      if (group < 0) {
        fail("regex.sub: unknown group name " + quoted_name(name));
      }
      return add_group(group, name.size() + 1);
    }
    if (name.find_first_not_of(kDecimalDigits) != std::u32string::npos) {
      source_.error("bad character in group name " + quoted_name(name), name.size() + 1);
    }
    add_group(number_of(name, 10), name.size() + 1);
  }

  void add_group(int64_t group, size_t offset) {
    if (group > pattern_.group_count()) {
      source_.error("invalid group reference " + std::to_string(group), offset);
    }
    pieces_.emplace_back(std::exchange(text_, {}), static_cast<int>(group));
  }

  RegexScanner source_;
  const RegexTranslation& pattern_;
  RegexTemplate pieces_;
  std::string text_;
};

}  // namespace

RegexTemplate parse_regex_template(const std::string& source, const RegexTranslation& pattern) {
  return TemplateParser(source, pattern).parse();
}

}  // namespace spl
