// Threads that end inside our functions: by Python's finalization, pthread_exit or pthread_cancel.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <utility>

#include "abi/forced_unwind.h"
#include "bridge/runtime/python.h"

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace simple_torch::bridge {

/// Blocks until the process ends. Until Python 3.13, a daemon thread that requests the GIL during
/// finalization is terminated by stack unwinding. Unwinding through a noexcept function ends the process, so
/// the thread is parked instead, as Python 3.14 does.
[[noreturn]] inline void park_forever() noexcept {
  while (true) {
    pause();
  }
}

/// Runs a body that may acquire the GIL; parks the thread when Python unwinds it.
template <class Body>
auto park_on_forced_unwind(Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    if (is_forced_unwind()) {
      park_forever();
    }
    throw;
  }
}

/// Runs a body that calls code of the program. At finalization it parks the thread. The unwinding of a thread
/// that the program ends by pthread_exit passes through.
template <class Body>
auto park_at_finalization(Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    if (is_forced_unwind() && is_python_finalizing()) {
      park_forever();
    }
    throw;
  }
}

/// While one lives, pthread_cancel does not end the thread: it would leave Python's locks held. The request
/// stays pending. Costs two locked instructions, except in a process with one thread.
class CancellationDeferredScope {
 public:
  CancellationDeferredScope() noexcept {
    if (is_deferred_) {
      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
    }
  }
  ~CancellationDeferredScope() {
    if (is_deferred_) {
      pthread_setcancelstate(before_, nullptr);
    }
  }
  CancellationDeferredScope(const CancellationDeferredScope&) = delete;
  CancellationDeferredScope& operator=(const CancellationDeferredScope&) = delete;

 private:
#if __has_include(<sys/single_threaded.h>)
  const bool is_deferred_ = __libc_single_threaded == 0;
#else
  const bool is_deferred_ = true;
#endif
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace simple_torch::bridge
