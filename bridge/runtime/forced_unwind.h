// Threads that Python terminates inside our functions.
#pragma once

#include <cxxabi.h>
#include <unistd.h>

#include <utility>

namespace simple_torch::bridge {

/// Blocks until the process ends. Until Python 3.13, a daemon thread that requests the GIL during
/// finalization is terminated by stack unwinding. Unwinding through a noexcept function ends the process, so
/// the thread is parked instead, as Python 3.14 does.
[[noreturn]] inline void park_forever() noexcept {
  while (true) {
    pause();
  }
}

/// Runs a body that may acquire the GIL; parks the thread when Python unwinds it. The forced unwind has no
/// exception object: the reference to it is null by design.
template <class Body>
[[gnu::no_sanitize("null")]] auto park_on_forced_unwind(Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (::abi::__forced_unwind&) {
    park_forever();
  }
}

}  // namespace simple_torch::bridge
