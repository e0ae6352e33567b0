// Detects in a forked child that another thread was in a section for which the child would wait for ever.
#pragma once

#include <pthread.h>

#include <atomic>

namespace simple_torch {

/// While one lives, its thread is in the section, or waits to enter it. In a child that another thread forks
/// meanwhile, `on_loss` runs before fork() returns: the threads of the section do not exist there, and what
/// they locked stays locked. Scopes may be nested.
template <void (*on_loss)()>
class ForkWatch {
 public:
  ForkWatch() noexcept {
    static_cast<void>(registered);
    ++own_scopes;
    scopes.fetch_add(1);
  }
  ~ForkWatch() {
    scopes.fetch_sub(1);
    --own_scopes;
  }
  ForkWatch(const ForkWatch&) = delete;
  ForkWatch& operator=(const ForkWatch&) = delete;

 private:
  static void after_fork() {
    if (scopes.exchange(own_scopes) > own_scopes) {
      on_loss();
    }
  }

  static inline std::atomic<int> scopes{0};  // of all threads
  static inline thread_local int own_scopes = 0;
  // Registered when the library is loaded: fork() calls only the functions that were registered before it.
  static inline const int registered = pthread_atfork(nullptr, nullptr, after_fork);
};

}  // namespace simple_torch
