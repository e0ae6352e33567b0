// Scopes that decide which thread an interrupt stops, and when.
#pragma once

#include <atomic>

namespace spl {

/// While one lives, an interrupt unwinds this thread to the scope, and the program continues.
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

/// While one lives, interrupts wait on this thread: destructors and deferred code run to completion.
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

/// While one lives, the thread counts as an active Simple thread, inside or outside Python.
class ActiveThread {
 public:
  ActiveThread() { ++threads_; }
  ~ActiveThread() { --threads_; }
  ActiveThread(const ActiveThread&) = delete;
  ActiveThread& operator=(const ActiveThread&) = delete;
  static int threads() { return threads_; }
  static void reset_after_fork() { threads_ = 1; }

 private:
  friend class BlockedThread;
  static inline std::atomic<int> threads_{1};  // the first thread
};

/// While one lives, the thread waits for another thread and is not active.
class BlockedThread {
 public:
  BlockedThread() { --ActiveThread::threads_; }
  ~BlockedThread() { ++ActiveThread::threads_; }
  BlockedThread(const BlockedThread&) = delete;
  BlockedThread& operator=(const BlockedThread&) = delete;
};

/// Whether the calling thread is the first one of the process.
bool is_first_thread();

/// Whether an interrupt may stop this thread. It belongs to the first thread in an embedded host, and while
/// that thread allows interrupts. Otherwise it belongs to the threads that allow interrupts; without any, to
/// all threads, and it ends the program.
bool may_be_interrupted();

/// In a forked child: the counts of the threads that exist there.
void reset_scopes_after_fork();

}  // namespace spl
