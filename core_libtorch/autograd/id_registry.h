// A registry of objects by id: hooks and groups of watched tensors.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core_libtorch/counted_lock.h"

namespace simple_torch::core {

/// Thread-safe. Removed objects are destroyed outside the lock, because they may call the program.
template <class T>
class IdRegistry {
 public:
  /// Returns the id, from 1 on. Ids are never reused.
  int64_t add(T object) {
    const CountedLockGuard guard(mutex_);
    objects_.emplace(++last_, std::move(object));
    return last_;
  }

  /// Removes the object; nothing if it was removed before.
  std::optional<T> take(int64_t id) {
    const CountedLockGuard guard(mutex_);
    auto node = objects_.extract(id);
    return node.empty() ? std::nullopt : std::optional(std::move(node.mapped()));
  }

  /// A copy.
  std::optional<T> find(int64_t id) {
    const CountedLockGuard guard(mutex_);
    const auto found = objects_.find(id);
    return found == objects_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Runs `change(T&)` under the lock if the object still exists.
  template <class Change>
  void change(int64_t id, Change&& change) {
    const CountedLockGuard guard(mutex_);
    if (const auto found = objects_.find(id); found != objects_.end()) {
      change(found->second);
    }
  }

 private:
  std::mutex mutex_;
  std::unordered_map<int64_t, T> objects_;
  int64_t last_ = 0;
};

}  // namespace simple_torch::core
