// The host lock: one Simple thread runs at a time; native code and waits run without it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "host/vm/current_thread.h"

namespace spl {

/// A running thread may take the free lock before the threads that sleep: handing it to a sleeping thread
/// costs a context switch, and a thread usually holds the lock for microseconds only, between two native
/// calls. A thread that has slept for 5 ms comes first. One waiting thread spins before it sleeps.
class HostLock {
 public:
  void acquire();
  /// Like acquire(), but returns false when the lock is closed. For threads that may hold a resource, such as
  /// the GIL, that the process needs at exit.
  bool acquire_unless_closed();
  void release();
  /// Whether the thread that holds the lock should hand it over at its next safepoint.
  bool wanted() const { return wanted_.load(std::memory_order_relaxed); }
  /// False while the process has one Simple thread; extern calls then do not touch the lock.
  bool shared() const { return shared_.load(std::memory_order_relaxed); }
  void become_shared();
  /// Makes wanted() true until the lock is released. Async-signal-safe.
  void mark_wanted() { wanted_.store(true); }
  /// Releases the lock to a waiting thread, and acquires it again after it.
  void hand_over();
  /// For process exit: acquire() blocks forever from now on. The caller holds the lock.
  void close() {
    closed_.store(true);
    wanted_.store(true);
  }
  bool is_closed() const { return closed_.load(); }

  /// Around fork(), on the forking thread, which holds the lock during the fork. In the child the thread
  /// holds the lock if it did before, and no thread waits.
  void before_fork();
  void after_fork_here();
  void after_fork_in_child();

 private:
  bool take_if_free() { return !held_.load(std::memory_order_relaxed) && !held_.exchange(true); }
  /// For a thread that did not sleep.
  bool take_first() { return starving_.load() == 0 && !reserved_.load() && take_if_free(); }
  /// For a sleeping thread.
  bool take_after_sleep(bool is_starving);
  bool spin();
  /// False once the lock is closed.
  bool sleep();
  void wake_one();

  std::mutex mutex_;  // of sleeping threads
  std::condition_variable freed_;
  std::atomic<bool> held_{false};
  std::atomic<bool> reserved_{false};  // for a sleeping thread
  std::atomic<bool> spinning_{false};  // by one thread
  std::atomic<bool> waking_{false};    // a sleeping thread was notified, and has not run yet
  std::atomic<int> asleep_{0}, starving_{0};
  std::atomic<bool> wanted_{false}, shared_{false}, closed_{false};
};

/// Never destroyed: in an embedding process, threads may wait for it until exit.
union ImmortalHostLock {
  HostLock lock;
  ImmortalHostLock() : lock() {}
  ~ImmortalHostLock() {}
};
extern ImmortalHostLock the_host_lock;
inline HostLock& host_lock() { return the_host_lock.lock; }  // read in every loop iteration

/// Releases the lock for the scope; costs one load while the lock is not shared. Afterwards the same Thread
/// is active as before: another coroutine may have called Simple meanwhile.
class Unlocked {
 public:
  Unlocked() : active_(host_lock().shared()), thread_(active_thread) {
    if (active_) {
      host_lock().release();
    }
  }
  ~Unlocked() {
    if (active_) {
      host_lock().acquire();
    }
    active_thread = thread_;
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  bool active_;
  Thread* thread_;
};

}  // namespace spl
