// A ticket lock whose waiters ask for their turn after 5 ms.
#include "lock.h"

#include <unistd.h>

#include <chrono>

#include "../values/error.h"
#include "cycles.h"

namespace spl {

KeptHostLock the_host_lock;

namespace {

constexpr auto kTurn = std::chrono::milliseconds(5);

[[noreturn]] void wait_for_the_end() {
  while (true)
    pause();
}

}  // namespace

void HostLock::acquire() {
  std::unique_lock guard(mutex_);
  const uint64_t ticket = next_ticket_++;
  while (serving_ != ticket && !is_closed())
    if (changed_.wait_for(guard, kTurn) == std::cv_status::timeout && serving_ != ticket)
      wanted_.store(true, std::memory_order_relaxed);
  if (is_closed()) {
    guard.unlock();
    wait_for_the_end();
  }
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
    throw ExitRequest{kInterruptedCode};
  if (host_lock().take_collection())
    collect_cycles();
  host_lock().hand_over();
}

}  // namespace spl
