// Threads that Python ends in the middle of our functions.
#pragma once

#include <cxxabi.h>
#include <unistd.h>

#include <utility>

namespace simple_torch::bridge {

/// A daemon thread that wants the GIL once Python is going is ended by Python (until 3.13) by unwinding its
/// stack; through functions that must not throw, that ends the process. It waits for the process's end
/// instead, as in Python 3.14.
[[noreturn]] inline void park_forever() noexcept {
  while (true) {
    pause();
  }
}

/// Runs what may take the GIL. What unwinds a thread has no object, and the reference to it is null: by
/// design.
template <class Body>
[[gnu::no_sanitize("null")]] auto park_on_forced_unwind(Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (::abi::__forced_unwind&) {
    park_forever();
  }
}

}  // namespace simple_torch::bridge
