// The stack with marks, and the memo, of a pickle that is being read.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// All throw Error(kIo) for a corrupt pickle.
class Stack {
 public:
  const ValuePtr& push(Kind kind) { return values_.emplace_back(make_value(kind)); }
  void push(ValuePtr value) { values_.push_back(std::move(value)); }
  void push_of(Kind kind, std::vector<ValuePtr> items) { push(kind)->items = std::move(items); }
  void mark() { marks_.push_back(values_.size()); }

  const ValuePtr& top() const;
  ValuePtr pop();
  std::string pop_text();
  std::vector<ValuePtr> pop_some(size_t count);
  /// Removes and returns the values above the last mark, and removes the mark.
  std::vector<ValuePtr> pop_marked();
  /// Adds the values to the collection of that kind on top: a list, a set or any dict.
  void add_to_top(Kind kind, const std::vector<ValuePtr>& items);

  void memoize(size_t key) { memo_[key] = top(); }
  void memoize_next() { memoize(memo_.size()); }
  void push_known(size_t key);

  /// The only value that is left.
  ValuePtr only_result();

 private:
  std::vector<ValuePtr> values_;
  std::vector<size_t> marks_;
  std::unordered_map<size_t, ValuePtr> memo_;
};

}  // namespace simple_torch::core::pickle
