// A ticket lock whose waiters request a hand-over after 5 ms.
#include "host/vm/lock.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <thread>

#include "host/vm/safepoint.h"
#include "host/vm/signal_check.h"
#include "host/vm/threads.h"

namespace spl {

ImmortalHostLock the_host_lock;

namespace {

constexpr auto kTurn = std::chrono::milliseconds(5);

thread_local bool has_lock = false;
thread_local bool only_for_fork = false;  // this thread acquired the lock only for a fork

// How often the next thread spins before it sleeps: never on one CPU, where the holder cannot run meanwhile.
int spins() {
  static const int count = std::thread::hardware_concurrency() > 1 ? 400 : 0;
  return count;
}

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

[[noreturn]] void park_forever() {
  while (true) {
    pause();
  }
}

}  // namespace

void HostLock::acquire() {
  if (!acquire_unless_closed()) {
    park_forever();
  }
}

bool HostLock::acquire_unless_closed() {
  if (is_closed() && has_lock) {
    return true;  // the thread that closed the lock keeps it and may return to Simple
  }
  const uint64_t ticket = next_ticket_.fetch_add(1);
  if (!spin_until(ticket) && !sleep_until(ticket)) {
    return false;
  }
  if (is_closed()) {
    return false;
  }
  has_lock = true;
  if (is_signal_check_due()) {
    mark_wanted();
  }
  return true;
}

bool HostLock::spin_until(uint64_t ticket) const {
  for (int i = 0; i < spins(); ++i) {
    const uint64_t served = serving_.load(std::memory_order_acquire);
    if (served == ticket) {
      return true;
    }
    if (served + 1 != ticket) {
      return false;  // other threads are before this one
    }
    pause_briefly();
  }
  return serving_.load() == ticket;
}

bool HostLock::sleep_until(uint64_t ticket) {
  std::unique_lock guard(mutex_);
  asleep_.fetch_add(1);  // before the check, so that a release sees the sleeper
  while (serving_.load() != ticket && !is_closed()) {
    if (changed_.wait_for(guard, kTurn) == std::cv_status::timeout && serving_.load() != ticket) {
      wanted_.store(true, std::memory_order_relaxed);
    }
  }
  asleep_.fetch_sub(1);
  return !is_closed();
}

void HostLock::become_shared() {
  if (shared_.exchange(true)) {
    return;
  }
  pthread_atfork([] { host_lock().before_fork(); }, [] { host_lock().after_fork_here(); },
                 [] {
                   host_lock().after_fork_in_child();
                   forget_other_threads();
                 });
}

void HostLock::before_fork() {
  only_for_fork = !has_lock && !is_closed();
  if (only_for_fork) {
    acquire();
  }
  mutex_.lock();
}

void HostLock::after_fork_here() {
  mutex_.unlock();
  if (only_for_fork) {
    release();
  }
}

void HostLock::after_fork_in_child() {
  // The threads that waited do not exist here.
  new (&mutex_) std::mutex;
  new (&changed_) std::condition_variable;
  serving_ = 0;
  next_ticket_ = 1;
  asleep_ = 0;
  if (only_for_fork) {
    release();
  }
}

void HostLock::release() {
  if (is_closed()) {
    return;
  }
  has_lock = false;
  // In this order: a signal handler may run in between.
  wanted_.store(false);
  if (safepoint_requests.load() != 0) {
    wanted_.store(true);
  }
  serving_.fetch_add(1);
  if (asleep_.load() > 0) {
    const std::lock_guard guard(mutex_);
    changed_.notify_all();
  }
}

void HostLock::hand_over() {
  release();
  acquire();
}

}  // namespace spl
