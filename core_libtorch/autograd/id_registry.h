// Things that a program names by a number: hooks, and tensors that are awaited together.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core_libtorch/counted_lock.h"

namespace simple_torch::core {

/// From any thread. What is taken out dies outside of the lock, as it may call the program.
template <class T>
class IdRegistry {
 public:
  /// Its number, from 1 on, which no other ever has.
  int64_t add(T thing) {
    const CountedLockGuard guard(mutex_);
    things_.emplace(++last_, std::move(thing));
    return last_;
  }

  /// Nothing where it was taken before.
  std::optional<T> take(int64_t number) {
    const CountedLockGuard guard(mutex_);
    auto node = things_.extract(number);
    return node.empty() ? std::nullopt : std::optional(std::move(node.mapped()));
  }

  /// A copy.
  std::optional<T> find(int64_t number) {
    const CountedLockGuard guard(mutex_);
    const auto found = things_.find(number);
    return found == things_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Runs `change(T&)` under the lock where it is still there.
  template <class Change>
  void change(int64_t number, Change&& change) {
    const CountedLockGuard guard(mutex_);
    if (const auto found = things_.find(number); found != things_.end()) {
      change(found->second);
    }
  }

 private:
  std::mutex mutex_;
  std::unordered_map<int64_t, T> things_;
  int64_t last_ = 0;
};

}  // namespace simple_torch::core
