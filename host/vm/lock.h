// The host lock: one Simple thread runs at a time; native code and waits run without it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace spl {

/// Fair: threads get the lock in the order in which they asked. Who is next looks for it a few microseconds
/// before it sleeps: between two native calls a thread has the lock no longer than that.
class HostLock {
 public:
  void acquire();
  /// The same, but false once the lock is closed: for who may hold something that the process needs for its
  /// end.
  bool acquire_unless_closed();
  void release();
  /// Whether the thread that holds the lock should hand it over at its next safepoint.
  bool wanted() const { return wanted_.load(std::memory_order_relaxed); }
  /// False while the process has one Simple thread: extern calls then leave the lock alone.
  bool shared() const { return shared_.load(std::memory_order_relaxed); }
  void become_shared();
  /// Makes every running thread pass through its safepoint: for Ctrl-C. False when it was asked for before,
  /// and none has come there since.
  bool interrupt() {
    const bool is_first = !interrupted_.exchange(true);
    wanted_.store(true);
    return is_first;
  }
  bool take_interrupt() { return interrupted_.exchange(false); }
  bool is_interrupted() const { return interrupted_.load(std::memory_order_relaxed); }
  /// Makes the running thread collect cycles at its next safepoint.
  void ask_for_collection() {
    collection_.store(true);
    wanted_.store(true);
  }
  bool take_collection() { return collection_.exchange(false); }
  /// Gives waiting threads their turn.
  void hand_over();
  /// The process ends: whoever asks for the lock by acquire(), now or later, waits for that. The caller has
  /// it.
  void close() {
    closed_.store(true);
    wanted_.store(true);
  }
  bool is_closed() const { return closed_.load(); }

  /// Around fork(), on the thread that forks: nobody is in the middle of something, and in the child this
  /// thread has the lock if it had it before, and nobody waits.
  void before_fork();
  void after_fork_here();
  void after_fork_in_child();

 private:
  /// Whether the turn came while we looked.
  bool came_soon(uint64_t ticket) const;
  /// False once the lock is closed.
  bool sleep_until(uint64_t ticket);

  std::mutex mutex_;  // of those who sleep
  std::condition_variable changed_;
  std::atomic<uint64_t> next_ticket_{0}, serving_{0};
  std::atomic<int> asleep_{0};
  std::atomic<bool> wanted_{false}, shared_{false}, interrupted_{false}, collection_{false};
  std::atomic<bool> closed_{false};
};

/// Never destroyed: in another program's process threads may wait for it to the end.
union KeptHostLock {
  HostLock lock;
  KeptHostLock() : lock() {}
  ~KeptHostLock() {}
};
extern KeptHostLock the_host_lock;
inline HostLock& host_lock() { return the_host_lock.lock; }  // asked at every turn of a loop

/// Free of the lock for as long as it lives; costs one load while nobody shares it.
class Unlocked {
 public:
  Unlocked() : active_(host_lock().shared()) {
    if (active_) {
      host_lock().release();
    }
  }
  ~Unlocked() {
    if (active_) {
      host_lock().acquire();
    }
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  bool active_;
};

/// While one lives, Ctrl-C unwinds this thread to there, and the program goes on.
class InterruptsAllowed {
 public:
  InterruptsAllowed();
  ~InterruptsAllowed();
  InterruptsAllowed(const InterruptsAllowed&) = delete;
  InterruptsAllowed& operator=(const InterruptsAllowed&) = delete;
  static bool is_this_thread() { return count_ != 0; }

 private:
  static inline thread_local int count_ = 0;
};

/// While one lives, the thread counts among those of Simple that are at work.
class ActiveThread {
 public:
  ActiveThread() { ++threads_; }
  ~ActiveThread() { --threads_; }
  ActiveThread(const ActiveThread&) = delete;
  ActiveThread& operator=(const ActiveThread&) = delete;
  static int threads() { return threads_; }
  static void forget_others() { threads_ = 1; }

 private:
  friend class BlockedThread;
  static inline std::atomic<int> threads_{1};  // the first thread
};

/// While one lives, the thread waits for another one, which does the work.
class BlockedThread {
 public:
  BlockedThread() { --ActiveThread::threads_; }
  ~BlockedThread() { ++ActiveThread::threads_; }
  BlockedThread(const BlockedThread&) = delete;
  BlockedThread& operator=(const BlockedThread&) = delete;
};

/// While one lives, Ctrl-C waits: what gives up things must come to its end.
class InterruptsMasked {
 public:
  InterruptsMasked() { ++count_; }
  ~InterruptsMasked() { --count_; }
  InterruptsMasked(const InterruptsMasked&) = delete;
  InterruptsMasked& operator=(const InterruptsMasked&) = delete;
  static bool is_this_thread() { return count_ != 0; }

 private:
  static inline thread_local int count_ = 0;
};

/// Whether Ctrl-C is this thread's. The first thread's, where it waits for Simple in another program's
/// process or is InterruptsAllowed; else that of those that are; where there are none, of all, and the
/// program ends.
bool may_be_interrupted();

/// Where a running thread looks up: hands the lock over, collects cycles, stops for Ctrl-C. Where it may not
/// stop, as between two steps of the library, it does so only to end the program.
void safepoint(bool may_stop = true);

}  // namespace spl
