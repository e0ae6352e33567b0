// Work that needs the GIL, handed over by threads that must not wait for it.
#pragma once

namespace simple_torch::bridge {

/// Queues `run(what)` for the next thread that holds the GIL (if no call of Python comes soon, that is the
/// drainer's). Takes no lock, never waits, never fails: after
/// `leak_deferred_work` (and when memory is out) the work is dropped, which leaks what it would have freed.
void defer(void (*run)(void*), void* what) noexcept;

bool has_deferred_work() noexcept;

/// Runs what is queued, oldest first. The caller holds the GIL.
void run_deferred_work() noexcept;

/// From now on nothing is queued any more: the interpreter is going.
void leak_deferred_work() noexcept;

}  // namespace simple_torch::bridge
