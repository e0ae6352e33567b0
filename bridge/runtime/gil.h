// Scoped GIL ownership, with one persistent thread state per host thread.
#pragma once

#include <cstdint>

#include "bridge/runtime/forced_unwind.h"
#include "bridge/runtime/handled_exceptions.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// An interrupt on its way to a thread other than the main one.
enum class WorkerInterrupt : uint8_t {
  kNone,
  kDue,   // waits until the thread leaves code that an exception would leave with a lock held
  kSent,  // an asynchronous KeyboardInterrupt
};

/// The bridge's record of a thread that calls Python. The GIL guards the list of records.
struct PythonThread {
  PyThreadState* state;     // created by us; NULL when Python created the thread's state
  PyThreadState* cached;    // a state that lives as long as the thread; else NULL
  unsigned long python_id;  // for PyThreadState_SetAsyncExc
  bool is_main = false;     // Python's main thread, which handles signals
  int inside = 0;           // its share of the inside count while it runs Python for a call; else 0
  WorkerInterrupt interrupt = WorkerInterrupt::kNone;
  HandledExceptions* handled_exceptions;
  PyObject* exception = nullptr;  // owned: of the last failed call, until the next call of Python
  PythonThread* next = nullptr;
};

/// Holds the GIL. Does nothing on a thread that already holds it, such as in native code that Python called.
/// Drains the pending releases on entry. Never wait, lock or join inside a scope. A request of pthread_cancel
/// stays pending meanwhile.
///
/// A thread state is kept until its thread ends: creating one per call costs 60 times the call.
class GilScope {
 public:
  enum class OnEnter { kDrainPending, kSkipDrain };
  explicit GilScope(OnEnter entering = OnEnter::kDrainPending);
  ~GilScope();
  GilScope(const GilScope&) = delete;
  GilScope& operator=(const GilScope&) = delete;

  PythonThread& thread() const noexcept { return *thread_; }

 private:
  CancellationDeferredScope cancellation_;  // destroyed last
  PythonThread* thread_;
  PyThreadState* attached_ = nullptr;  // NULL: the thread already held the GIL
};

/// For a thread that ends below Python code: its Python frames are on a part of the C stack that no longer
/// exists. They are forgotten, and what they refer to leaks. The caller holds the GIL.
void forget_python_frames() noexcept;

/// Asserts, in debug builds, that the calling thread holds no backend lock and may wait for the GIL.
void expect_no_lock_held() noexcept;

/// In a forked child: the other threads do not exist, and Python frees their states.
void drop_other_thread_states() noexcept;

/// Releases the exception that a thread's last call left; and those of all threads, at shutdown.
void drop_exception(PythonThread& thread) noexcept;
void drop_all_exceptions() noexcept;

/// Registers the calling thread, which started the interpreter and holds the GIL, as Python's main thread.
void adopt_starting_thread();

/// Whether this thread may call Python. False after its thread-local values were destroyed.
bool can_thread_enter() noexcept;

/// Creates the calling thread's persistent thread state when Python runs.
void register_thread() noexcept;

/// The calling thread, or NULL before its first scope. Needs no GIL.
PythonThread* this_python_thread() noexcept;

/// The head of the list of threads known to the bridge. The caller holds the GIL.
PythonThread* first_thread() noexcept;

}  // namespace simple_torch::bridge
