// A ticket lock whose waiters ask for their turn after 5 ms.
#include "lock.h"

#include <chrono>

#include "../values/error.h"
#include "cycles.h"

namespace spl {

HostLock the_host_lock;

void HostLock::acquire() {
  std::unique_lock guard(mutex_);
  const uint64_t ticket = next_ticket_++;
  while (serving_ != ticket)
    if (changed_.wait_for(guard, std::chrono::milliseconds(5)) == std::cv_status::timeout &&
        serving_ != ticket)
      wanted_.store(true, std::memory_order_relaxed);
}

void HostLock::release() {
  const std::lock_guard guard(mutex_);
  ++serving_;
  wanted_.store(interrupted_.load() || collection_.load(), std::memory_order_relaxed);
  if (next_ticket_ != serving_)
    changed_.notify_all();
}

void HostLock::hand_over() {
  release();
  acquire();
}

void safepoint() {
  if (host_lock().take_interrupt())
    throw ExitRequest{130};
  if (host_lock().take_collection())
    collect_cycles();
  host_lock().hand_over();
}

}  // namespace spl
