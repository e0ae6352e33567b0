// A lock whose waiters request a hand-over after 5 ms.
#include "host/vm/lock.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include "host/vm/safepoint.h"
#include "host/vm/signal_check.h"
#include "host/vm/threads.h"

namespace spl {

ImmortalHostLock the_host_lock;

namespace {

constexpr auto kTurn = std::chrono::milliseconds(5);

thread_local bool has_lock = false;
thread_local bool only_for_fork = false;  // this thread acquired the lock only for a fork

// How often a thread spins before it sleeps: never on one CPU, where the holder cannot run meanwhile.
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
  if (!take_first() && !spin() && !sleep()) {
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

bool HostLock::spin() {
  if (spinning_.exchange(true)) {
    return false;
  }
  bool is_taken = false;
  for (int i = 0; i < spins() && !is_taken; ++i) {
    pause_briefly();
    is_taken = take_first();
  }
  spinning_.store(false);
  return is_taken;
}

bool HostLock::take_after_sleep(bool is_starving) {
  if (!is_starving && starving_.load() > 0) {
    return false;
  }
  if (!take_if_free()) {
    return false;
  }
  reserved_.store(false);
  return true;
}

bool HostLock::sleep() {
  std::unique_lock guard(mutex_);
  bool has_slept = false, is_starving = false;
  asleep_.fetch_add(1);  // before the check, so that a release sees the sleeper
  while (!is_closed() && !(has_slept ? take_after_sleep(is_starving) : take_first())) {
    const bool is_late = freed_.wait_for(guard, kTurn) == std::cv_status::timeout;
    has_slept = true;
    waking_.store(false);
    if (is_late && !std::exchange(is_starving, true)) {
      starving_.fetch_add(1);
    }
    if (!is_starving && starving_.load() > 0 && !held_.load()) {
      freed_.notify_all();  // this thread may not take the lock
    }
    if (is_starving) {
      wanted_.store(true, std::memory_order_relaxed);
    }
  }
  starving_.fetch_sub(is_starving ? 1 : 0);
  asleep_.fetch_sub(1);
  waking_.store(false);  // a release may have meant this thread before it slept
  return !is_closed();
}

/// Not while a thread is waking already. A sleeping thread that may not take the lock does not pass it on, so
/// that all are notified where only some may take it.
void HostLock::wake_one() {
  if (asleep_.load() == 0 || waking_.exchange(true)) {
    return;
  }
  const std::lock_guard guard(mutex_);
  if (starving_.load() > 0) {
    freed_.notify_all();
  } else {
    freed_.notify_one();
  }
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
  new (&freed_) std::condition_variable;
  held_ = true;
  reserved_ = spinning_ = waking_ = false;
  asleep_ = starving_ = 0;
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
  held_.store(false);
  wake_one();
}

void HostLock::hand_over() {
  {
    const std::lock_guard guard(mutex_);
    reserved_.store(asleep_.load() > 0);
  }
  release();
  acquire();
}

}  // namespace spl
