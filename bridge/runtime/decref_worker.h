// A thread that frees queued tensor memory when no call into Python does so.
#pragma once

namespace simple_torch::bridge {

/// Call after memory was queued. The worker starts at the first call. It polls the queue every few
/// milliseconds while work arrives, and acquires the GIL for what no call into Python has freed.
/// `drain_memory_before_import` bounds the queue. Acquires no lock and never blocks; wakes the worker at most
/// once per polling period.
void wake_worker() noexcept;

/// Stops the worker permanently and waits for its end, also when another call already stops it. On the worker
/// itself it only requests the stop. The caller must not hold the GIL.
void stop_worker() noexcept;

/// In a forked child: the worker does not exist there and starts again when it is needed.
void reset_worker_after_fork() noexcept;

}  // namespace simple_torch::bridge
