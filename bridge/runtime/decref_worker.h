// Memory that tensors let go of is freed soon, also where nobody calls Python for a while.
#pragma once

namespace simple_torch::bridge {

/// Told after memory was queued. A thread of the bridge, begun at the first, looks at the queue every few
/// milliseconds while there is work now and then, and takes the GIL for what calls of Python have not run
/// meanwhile (what bounds the queue: `make_room_in_deferred_memory`). Takes no lock and does
/// not wait; wakes that thread at most once in its time of looking.
void wake_worker() noexcept;

/// Ends that thread for good and waits until it has ended, also where another call ends it already; called
/// on that thread itself it only tells it to end. The caller must not hold the GIL.
void end_drainer() noexcept;

/// In a process that was just forked: that thread is not in it, and begins anew when it is needed.
void forget_drainer() noexcept;

}  // namespace simple_torch::bridge
