// Edit distance with transpositions; upper and lower case count as the same letter.
#include "host/values/spelling_suggester.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace spl {

namespace {

std::string lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    last[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// One error for every three letters. Names of one or two letters may differ only in case.
size_t max_errors(size_t length) { return length < 3 ? 0 : std::max<size_t>(1, length / 3); }

}  // namespace

SpellingSuggester::SpellingSuggester(std::string_view misspelled)
    : misspelled_(misspelled), lowered_(lowered(misspelled)), distance_(max_errors(misspelled.size()) + 1) {}

void SpellingSuggester::offer(std::string_view name) {
  const size_t longer = std::max(name.size(), misspelled_.size()),
               shorter = std::min(name.size(), misspelled_.size());
  if (name == misspelled_ || longer - shorter > distance_) {
    return;
  }
  const size_t found = distance(lowered_, lowered(name));
  const bool tie =
      found == distance_ && !best_.empty() && name < best_;  // makes the result independent of the order
  if (found > distance_ || (found == distance_ && !tie)) {
    return;
  }
  distance_ = found;
  best_ = name;
}

}  // namespace spl
