// The values that a pickle has made so far: its stack, with marks, and its memory by number.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// All throw Error(kIo) for what a sound pickle does not do.
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
  /// Those above the last mark, which goes, too.
  std::vector<ValuePtr> pop_marked();
  /// Into the collection of that kind which is on top: a list, a set, or a dict of any kind.
  void add_to_top(Kind kind, const std::vector<ValuePtr>& items);

  void remember(size_t key) { memory_[key] = top(); }
  void remember_next() { remember(memory_.size()); }
  void push_known(size_t key);

  /// The one value that is left.
  ValuePtr only_result();

 private:
  std::vector<ValuePtr> values_;
  std::vector<size_t> marks_;
  std::unordered_map<size_t, ValuePtr> memory_;
};

}  // namespace simple_torch::core::pickle
