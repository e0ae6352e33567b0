// Python's syntax of regular expressions, checked with the errors of Python's `re` and written for PCRE2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spl {

/// The flags of Python's `re`, with its numbers.
enum RegexFlag : uint32_t {
  kRegexIgnoreCase = 2,
  kRegexLocale = 4,
  kRegexMultiline = 8,
  kRegexDotAll = 16,
  kRegexUnicode = 32,
  kRegexVerbose = 64,
  kRegexAscii = 256,
};

/// A pattern for PCRE2, which must be compiled with ALT_CIRCUMFLEX, DOTALL and the newline LF.
struct RegexTranslation {
  std::string pattern;        // for subjects with any characters
  std::string ascii_pattern;  // for subjects of ASCII characters only: its classes are shorter
  bool is_ascii = true;       // the pattern has ASCII characters only
  uint32_t flags = 0;         // with those that the pattern sets
  std::vector<int> parents;   // by group: the number of the group around it, 0 for none
  bool has_group_in_assertion = false;
  std::vector<std::pair<std::string, int>> names;

  int group_count() const { return static_cast<int>(parents.size()) - 1; }
  /// The number of a named group; -1 if there is none.
  int group_of(const std::string& name) const;
};

/// Fails with Python's message and position for a faulty pattern.
RegexTranslation translate_regex(const std::string& pattern, uint32_t flags);

/// A replacement: pieces of text, each followed by a group's number, or by -1.
using RegexTemplate = std::vector<std::pair<std::string, int>>;
RegexTemplate parse_regex_template(const std::string& source, const RegexTranslation& pattern);

}  // namespace spl
