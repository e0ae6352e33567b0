// A lock guard that debug builds count.
#pragma once

#include <mutex>

namespace simple_torch::core {

/// The number of locks that the calling thread holds; always 0 in builds without assertions. A thread that
/// acquires the GIL must hold none: another thread may hold the GIL and wait for this lock.
inline int& held_locks() noexcept {
  static thread_local int held = 0;
  return held;
}

/// A std::lock_guard that counts.
template <class Mutex>
class CountedLockGuard {
 public:
  explicit CountedLockGuard(Mutex& mutex) : guard_(mutex) { count(1); }
  ~CountedLockGuard() { count(-1); }
  CountedLockGuard(const CountedLockGuard&) = delete;
  CountedLockGuard& operator=(const CountedLockGuard&) = delete;

 private:
  static void count([[maybe_unused]] int change) noexcept {
#ifndef NDEBUG
    held_locks() += change;
#endif
  }

  std::lock_guard<Mutex> guard_;
};

}  // namespace simple_torch::core
