// Suggestions for misspelled names.
#pragma once

#include <string>
#include <string_view>

namespace spl {

/// Compares candidate names with a misspelled one and keeps the candidate with the smallest edit distance.
class SpellingSuggester {
 public:
  explicit SpellingSuggester(std::string_view misspelled);

  void offer(std::string_view name);
  /// The best candidate so far, "" if none is close.
  const std::string& name() const { return best_; }
  /// "did you mean 'name'?", or "".
  std::string hint() const { return best_.empty() ? "" : "did you mean '" + best_ + "'?"; }

 private:
  std::string misspelled_, lowered_;
  std::string best_;
  size_t distance_;  // of the best candidate
};

}  // namespace spl
