// A ticket lock whose waiters ask for their turn after 5 ms.
#include "host/vm/lock.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <thread>

#include "host/installation.h"
#include "host/values/error.h"
#include "host/vm/cycles.h"
#include "host/vm/threads.h"

namespace spl {

KeptHostLock the_host_lock;

namespace {

constexpr auto kTurn = std::chrono::milliseconds(5);

thread_local bool has_lock = false;       // this thread
thread_local bool only_for_fork = false;  // and it got it for that

std::atomic<int> interruptible_threads{0};
std::atomic<bool> first_is_interruptible{false};

bool is_first_thread() {
  static thread_local const bool is_first = gettid() == getpid();
  return is_first;
}

// How often who is next looks before it sleeps: not at all where the one that has the lock cannot run
// meanwhile.
int looks() {
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

[[noreturn]] void wait_for_the_end() {
  while (true) {
    pause();
  }
}

}  // namespace

void HostLock::acquire() {
  if (!acquire_unless_closed()) {
    wait_for_the_end();
  }
}

bool HostLock::acquire_unless_closed() {
  if (is_closed() && has_lock) {
    return true;  // the thread that closed it, which keeps it, may come back to Simple
  }
  const uint64_t ticket = next_ticket_.fetch_add(1);
  if (!came_soon(ticket) && !sleep_until(ticket)) {
    return false;
  }
  if (is_closed()) {
    return false;
  }
  has_lock = true;
  return true;
}

bool HostLock::came_soon(uint64_t ticket) const {
  for (int i = 0; i < looks(); ++i) {
    const uint64_t served = serving_.load(std::memory_order_acquire);
    if (served == ticket) {
      return true;
    }
    if (served + 1 != ticket) {
      return false;  // others come first
    }
    pause_briefly();
  }
  return serving_.load() == ticket;
}

bool HostLock::sleep_until(uint64_t ticket) {
  std::unique_lock guard(mutex_);
  asleep_.fetch_add(1);  // before we look: who changes serving_ then sees one of the two
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
  interruptible_threads = InterruptsAllowed::is_this_thread() ? 1 : 0;
  first_is_interruptible = first_is_interruptible && is_first_thread();
  // Those who waited for either are not here.
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
  // In this order: a signal may come in between.
  wanted_.store(false);
  if (interrupted_.load() || collection_.load()) {
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

InterruptsAllowed::InterruptsAllowed() {
  if (count_++ != 0) {
    return;
  }
  ++interruptible_threads;
  if (is_first_thread()) {
    first_is_interruptible = true;
  }
}

InterruptsAllowed::~InterruptsAllowed() {
  if (--count_ != 0) {
    return;
  }
  --interruptible_threads;
  if (is_first_thread()) {
    first_is_interruptible = false;
  }
}

bool may_be_interrupted() {
  if (InterruptsMasked::is_this_thread()) {
    return false;
  }
  if (is_embedded() || first_is_interruptible) {
    return is_first_thread();
  }
  return interruptible_threads == 0 || InterruptsAllowed::is_this_thread();
}

void safepoint(bool may_stop) {
  const bool would_end = !is_embedded() && !InterruptsAllowed::is_this_thread();
  if ((may_stop || would_end) && may_be_interrupted() && host_lock().take_interrupt()) {
    throw ExitRequest{.code = kInterruptedCode, .by_interrupt = true};
  }
  if (host_lock().take_collection()) {
    collect_cycles();
  }
  host_lock().hand_over();
}

}  // namespace spl
