// What a misspelt name was probably meant to be.
#pragma once

#include <string>
#include <string_view>

namespace spl {

/// Is offered every name that could stand there and keeps the one with the fewest typing errors between.
class SpellingSuggester {
 public:
  explicit SpellingSuggester(std::string_view wanted);

  void offer(std::string_view name);
  /// The best name so far, "" where none is near.
  const std::string& name() const { return best_; }
  /// "did you mean 'name'?", or "".
  std::string hint() const { return best_.empty() ? "" : "did you mean '" + best_ + "'?"; }

 private:
  std::string wanted_, lowered_;
  std::string best_;
  size_t distance_;  // of the best; a name must be nearer than this to be taken
};

}  // namespace spl
