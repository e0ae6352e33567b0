// The patterns that split or replace text: regular expressions of Oniguruma, run by PCRE2.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/tokenizers/fields.h"

namespace spl::tokenizers {

/// The bytes [begin, end) of a text, and whether the pattern matched them.
struct Match {
  size_t begin, end;
  bool is_match;
};

class Pattern {
 public:
  /// Of a field such as {"Regex": "\\s+"} or {"String": " "}.
  static Pattern of_field(const Json& value, const std::string& place);
  static Pattern regex(const std::string& expression, const std::string& place);
  static Pattern literal(const std::string& text, const std::string& place);

  /// Appends matches and what is between them; together they are the text. May be called by several threads.
  void find_all(std::string_view text, std::vector<Match>& out) const;
  bool matches_empty() const;

 private:
  struct Program;
  Pattern(const std::string& expression, const std::string& translated, uint32_t options,
          const std::string& place);
  std::shared_ptr<const Program> program_;
};

/// A regular expression of Oniguruma in the syntax of PCRE2. Fails for constructs that differ between them.
std::string translated_regex(const std::string& expression, const std::string& place);

enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };
SplitBehavior split_behavior(Fields& fields);
/// The parts that remain of matches that cover a text, in order.
void apply_behavior(std::vector<Match>& matches, SplitBehavior behavior);

}  // namespace spl::tokenizers
