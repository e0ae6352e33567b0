// Objects of a thread that functions of its end may still use.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace simple_torch::core {

/// The object of this thread, one for each `Tag`; created at its first use and destroyed with the thread's
/// other objects. exit() destroys those of its thread before it calls functions of atexit() and destructors
/// of static objects: these get a new object, which is not destroyed.
template <class T, class Tag>
T& thread_object() {
  static thread_local T* known = nullptr;
  struct DestroyAtThreadExit {
    ~DestroyAtThreadExit() { std::exchange(known, nullptr)->~T(); }
  };
  if (known == nullptr) [[unlikely]] {
    alignas(T) static thread_local std::byte place[sizeof(T)];
    known = new (place) T();
    static thread_local const DestroyAtThreadExit destroy_at_thread_exit;
  }
  return *known;
}

}  // namespace simple_torch::core
