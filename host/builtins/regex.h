// A compiled regular expression, and its matches in a text.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "host/builtins/pcre2_library.h"
#include "host/builtins/regex_syntax.h"
#include "host/values/objects.h"

namespace spl {

enum class RegexMode : uint8_t { kSearch, kMatch, kFullMatch };
inline constexpr size_t kRegexModes = 3;

/// A text between two positions, in characters. Fails if it is not valid UTF-8.
class RegexSubject {
 public:
  RegexSubject(Value text, int64_t pos, int64_t endpos);

  bool is_ascii() const { return is_ascii_; }
  bool is_empty_range() const { return begin_ > end_; }
  size_t begin() const { return begin_; }
  size_t end() const { return end_; }
  std::string_view content() const { return content_; }
  Value part(size_t from, size_t to) const;
  /// The number of the character at a byte.
  int64_t character_at(size_t byte);

 private:
  std::string_view content_;
  bool is_ascii_;
  size_t begin_ = 0, end_ = 0;  // in bytes
  size_t known_byte_ = 0;       // a byte whose character is known
  int64_t known_character_ = 0;
};

class Regex {
 public:
  static constexpr size_t kUnset = PCRE2_UNSET;

  /// Fails with Python's messages for a faulty pattern.
  Regex(const std::string& pattern, uint32_t flags);
  const RegexTranslation& syntax() const { return syntax_; }
  size_t span_count() const { return static_cast<size_t>(syntax_.group_count()) + 1; }

  /// The first and last byte of each group, in pairs; null if there is no match. Valid until the next call.
  /// `rejects_empty` rejects an empty match at `from`.
  const size_t* find(const RegexSubject& subject, size_t from, RegexMode mode, bool rejects_empty = false);

 private:
  struct CodeFree {
    void operator()(pcre2_code_8* code) const { pcre2().code_free(code); }
  };
  struct MatchDataFree {
    void operator()(pcre2_match_data_8* data) const { pcre2().match_data_free(data); }
  };
  struct Code {
    std::unique_ptr<pcre2_code_8, CodeFree> code;
    std::unique_ptr<pcre2_match_data_8, MatchDataFree> data;
  };

  Code& code_for(bool is_ascii, RegexMode mode);
  Code compiled(bool is_ascii, RegexMode mode) const;

  RegexTranslation syntax_;
  std::array<std::array<Code, kRegexModes>, 2> codes_;  // by the kind of subject and the mode
};

/// The matches in a text, one after another, as finditer() of Python finds them.
class RegexMatches {
 public:
  RegexMatches(Regex& regex, RegexSubject& subject, bool rejects_empty = false)
      : regex_(regex), subject_(subject), at_(subject.begin()), rejects_empty_(rejects_empty) {}
  /// Null at the end.
  const size_t* next();

 private:
  Regex& regex_;
  RegexSubject& subject_;
  size_t at_;
  bool rejects_empty_;
};

}  // namespace spl
