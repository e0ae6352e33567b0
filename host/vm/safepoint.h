// The points at which a running thread hands the lock over, collects cycles, and stops for an interrupt.
#pragma once

#include <atomic>

#include "host/vm/lock.h"

namespace spl {

/// Reasons for request_safepoint(); each is one bit.
inline constexpr unsigned kInterruptReason = 1;
inline constexpr unsigned kCollectionReason = 2;

/// The reasons that are pending.
inline constinit std::atomic<unsigned> safepoint_requests{0};

/// Makes the running thread enter its safepoint until take_request(reason). Async-signal-safe. False when the
/// same request is pending.
inline bool request_safepoint(unsigned reason) {
  const bool is_first = (safepoint_requests.fetch_or(reason) & reason) == 0;
  host_lock().mark_wanted();
  return is_first;
}
inline bool take_request(unsigned reason) { return (safepoint_requests.fetch_and(~reason) & reason) != 0; }
inline bool is_requested(unsigned reason) {
  return (safepoint_requests.load(std::memory_order_relaxed) & reason) != 0;
}

/// Called by a running thread when HostLock::wanted() is true. With `may_stop` false, as between two steps of
/// the library, an interrupt stops the thread only to end the program. Throws ExitRequest for an interrupt.
void safepoint(bool may_stop = true);

}  // namespace spl
