// Sets of characters of std.regex, written for PCRE2.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace spl {

/// A part of a pattern for subjects with any characters, and for subjects of ASCII characters only.
struct RegexForms {
  std::string any, ascii;

  RegexForms() = default;
  explicit RegexForms(const std::string& both) : any(both), ascii(both) {}
  RegexForms(std::string for_any, std::string for_ascii)
      : any(std::move(for_any)), ascii(std::move(for_ascii)) {}
  void append(const RegexForms& other) {
    any += other.any;
    ascii += other.ascii;
  }
  void wrap(const std::string& before, const std::string& after) {
    any = before + any + after;
    ascii = before + ascii + after;
  }
};

/// A character that stands for itself, in a pattern and in a set.
std::string regex_literal(char32_t c);

/// d, D, s, S, w or W.
bool is_class_letter(char32_t c);
/// \b, or \B: between a word's character and another one.
RegexForms word_boundary(bool is_negated, bool is_ascii_class);

class RegexSet {
 public:
  void add_range(char32_t first, char32_t last) { ranges_.emplace_back(first, last); }
  void add_class(char32_t letter, bool is_ascii_class);
  /// With `lists_cases` ASCII letters match in both cases.
  RegexForms forms(bool is_negated, bool lists_cases) const;

 private:
  std::vector<std::pair<char32_t, char32_t>> ranges_;
  RegexForms classes_;                       // inside brackets
  std::vector<RegexForms> negated_classes_;  // each a set of its own
};

}  // namespace spl
