// The points at which a running thread hands the lock over, collects cycles, and stops for an interrupt.
#pragma once

namespace spl {

/// Reasons for HostLock::request_safepoint; each is one bit.
inline constexpr unsigned kInterruptReason = 1;
inline constexpr unsigned kCollectionReason = 2;

/// Called by a running thread when HostLock::wanted() is true. With `may_stop` false, as between two steps of
/// the library, an interrupt stops the thread only to end the program. Throws ExitRequest for an interrupt.
void safepoint(bool may_stop = true);

}  // namespace spl
