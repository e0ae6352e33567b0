// Deferred work runs soon, also where nobody calls Python for a while.
#pragma once

namespace simple_torch::bridge {

/// Told after each piece of work that was queued. A thread of the bridge, begun at the first, looks at the
/// queue every few milliseconds while there is work now and then, and takes the GIL for what calls of
/// Python have not run meanwhile; so what waits is bounded by what is let go while it waits for the GIL.
/// Takes no lock and does not wait; wakes that thread at most once in its time of looking.
void see_to_deferred_work() noexcept;

/// Ends that thread for good and waits until it has ended. The caller must not hold the GIL.
void end_drainer() noexcept;

}  // namespace simple_torch::bridge
