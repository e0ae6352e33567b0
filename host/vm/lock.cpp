// A ticket lock whose waiters ask for their turn after 5 ms.
#include "lock.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <new>

#include "../installation.h"
#include "../values/error.h"
#include "cycles.h"
#include "threads.h"

namespace spl {

KeptHostLock the_host_lock;

namespace {

constexpr auto kTurn = std::chrono::milliseconds(5);

thread_local bool has_lock = false;       // this thread
thread_local bool only_for_fork = false;  // and it got it for that

[[noreturn]] void wait_for_the_end() {
  while (true)
    pause();
}

}  // namespace

void HostLock::acquire() {
  if (!acquire_unless_closed())
    wait_for_the_end();
}

bool HostLock::acquire_unless_closed() {
  if (is_closed() && has_lock)
    return true;  // the thread that closed it, which keeps it, may come back to Simple
  std::unique_lock guard(mutex_);
  const uint64_t ticket = next_ticket_++;
  while (serving_ != ticket && !is_closed())
    if (changed_.wait_for(guard, kTurn) == std::cv_status::timeout && serving_ != ticket)
      wanted_.store(true, std::memory_order_relaxed);
  if (is_closed())
    return false;
  has_lock = true;
  return true;
}

void HostLock::become_shared() {
  if (shared_.exchange(true))
    return;
  pthread_atfork([] { host_lock().before_fork(); }, [] { host_lock().after_fork_here(); },
                 [] {
                   host_lock().after_fork_in_child();
                   forget_other_threads();
                 });
}

void HostLock::before_fork() {
  only_for_fork = !has_lock && !is_closed();
  if (only_for_fork)
    acquire();
  mutex_.lock();
}

void HostLock::after_fork_here() {
  mutex_.unlock();
  if (only_for_fork)
    release();
}

void HostLock::after_fork_in_child() {
  // Those who waited for either are not here.
  new (&mutex_) std::mutex;
  new (&changed_) std::condition_variable;
  serving_ = 0;
  next_ticket_ = 1;
  if (only_for_fork)
    release();
}

void HostLock::release() {
  if (is_closed())
    return;
  has_lock = false;
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

bool may_be_interrupted() {
  static thread_local const bool is_first = gettid() == getpid();
  return is_first || !is_guest();
}

void safepoint() {
  if (may_be_interrupted() && host_lock().take_interrupt())
    throw ExitRequest{kInterruptedCode};
  if (host_lock().take_collection())
    collect_cycles();
  host_lock().hand_over();
}

}  // namespace spl
