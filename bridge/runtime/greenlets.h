// Greenlets: Python's coroutines that have a C stack each, as gevent uses them.
#pragma once

#include <cstdint>

namespace simple_torch::bridge {

/// Identifies the greenlet that the calling thread runs. 0 for the main greenlet of a thread, and where no
/// greenlet can run. Acquires the GIL in a process that has loaded greenlets; the caller holds no lock.
uint64_t current_greenlet() noexcept;

}  // namespace simple_torch::bridge
