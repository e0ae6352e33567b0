#include "host/builtins/regex_character_set.h"

#include <algorithm>
#include <cstdio>

#include "host/builtins/regex_scanner.h"
#include "host/syntax/utf8.h"

namespace spl {
namespace {

// Python's isdecimal(), isspace() and isalnum(). PCRE2's own \w differs between its versions.
RegexForms class_of(char32_t lower, bool is_ascii_class) {
  switch (lower) {
    case 'd':
      return {is_ascii_class ? "0-9" : "0-9\\p{Nd}", "0-9"};
    case 's':
      return {is_ascii_class ? "\\t-\\r\\x20" : "\\t-\\r\\x1c-\\x20\\x85\\p{Z}",
              is_ascii_class ? "\\t-\\r\\x20" : "\\t-\\r\\x1c-\\x20"};
    default:
      return {is_ascii_class ? "a-zA-Z0-9_" : "a-zA-Z0-9_\\p{L}\\p{N}", "a-zA-Z0-9_"};
  }
}

void add_form(std::string& out, char32_t first, char32_t last) {
  out += regex_literal(first);
  if (last != first) {
    out += '-' + regex_literal(last);
  }
}

// The letters of a range, in their other case.
void add_other_case(std::string& out, char32_t first, char32_t last, char32_t begin, char32_t end) {
  const char32_t low = std::max(first, begin), high = std::min(last, end);
  if (low <= high) {
    add_form(out, low ^ 0x20U, high ^ 0x20U);
  }
}

// One form of a set. `inside` is what its brackets contain; `others` are sets that it also contains.
std::string whole_set(const std::string& inside, const std::vector<std::string>& others, bool is_negated) {
  if (others.empty()) {
    return (is_negated ? "[^" : "[") + inside + "]";
  }
  std::string all;
  for (const std::string& other : others) {
    all += (all.empty() ? "" : "|") + other;
  }
  if (!inside.empty()) {
    all += "|[" + inside + "]";
  }
  return is_negated ? "(?:(?!" + all + ").)" : "(?:" + all + ")";
}

}  // namespace

std::string regex_literal(char32_t c) {
  if (is_ascii_letter(c) || is_one_of(c, kDecimalDigits) || c == '_' || c == ' ') {
    return {static_cast<char>(c)};
  }
  std::string out;
  if (c > 0x20 && c < 0x7f) {
    out = {'\\', static_cast<char>(c)};
  } else if (c < 0xa0) {
    char digits[16];
    std::snprintf(digits, sizeof(digits), "\\x{%x}", static_cast<unsigned>(c));
    out = digits;
  } else {
    append_utf8(out, c);
  }
  return out;
}

bool is_class_letter(char32_t c) { return is_one_of(c, U"dDsSwW"); }

RegexForms word_boundary(bool is_negated, bool is_ascii_class) {
  const RegexForms word = class_of('w', is_ascii_class);
  const auto form = [&](const std::string& inside) {
    const std::string before = "(?<=[" + inside + "])", not_before = "(?<![" + inside + "])";
    const std::string after = "(?=[" + inside + "])", not_after = "(?![" + inside + "])";
    return is_negated ? "(?:" + before + after + "|" + not_before + not_after + ")"
                      : "(?:" + before + not_after + "|" + not_before + after + ")";
  };
  const std::string plain = is_negated ? "\\B" : "\\b";  // without UCP: of ASCII characters
  return {is_ascii_class ? plain : form(word.any), plain};
}

void RegexSet::add_class(char32_t letter, bool is_ascii_class) {
  const RegexForms inside = class_of(letter | 0x20U, is_ascii_class);
  if ((letter & 0x20U) != 0) {
    classes_.append(inside);
  } else {
    negated_classes_.emplace_back("[^" + inside.any + "]", "[^" + inside.ascii + "]");
  }
}

RegexForms RegexSet::forms(bool is_negated, bool lists_cases) const {
  std::string ranges;
  for (const auto& [first, last] : ranges_) {
    add_form(ranges, first, last);
    if (lists_cases) {
      add_other_case(ranges, first, last, 'a', 'z');
      add_other_case(ranges, first, last, 'A', 'Z');
    }
  }
  const bool is_one_class =
      ranges_.empty() && classes_.any.empty() && negated_classes_.size() == 1 && !is_negated;
  if (is_one_class) {
    return negated_classes_[0];
  }
  std::vector<std::string> others_any, others_ascii;
  for (const RegexForms& other : negated_classes_) {
    others_any.push_back(other.any);
    others_ascii.push_back(other.ascii);
  }
  return {whole_set(ranges + classes_.any, others_any, is_negated),
          whole_set(ranges + classes_.ascii, others_ascii, is_negated)};
}

}  // namespace spl
