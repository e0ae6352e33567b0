// Taking the GIL for the length of a scope, with one kept thread state for each host thread.
#pragma once

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// What the bridge keeps for a thread that calls Python. The list of them is guarded by the GIL.
struct PythonThread {
  PyThreadState* state;      // NULL where Python, not we, made the thread's state
  PyThreadState* lasting;    // the thread's state where it is known to last as long as the thread; else NULL
  unsigned long python_id;   // what PyThreadState_SetAsyncExc wants
  bool is_main = false;      // the one whose signals Python handles
  int inside = 0;            // runs Python on behalf of a call: what it counts for; else 0
  bool interrupted = false;  // an asynchronous KeyboardInterrupt was sent to it
  PythonThread* next = nullptr;
};

/// Holds the GIL. On a thread that holds it already (Python called native code that calls us) it changes
/// nothing. On entering, deferred work is run. Never wait, lock or join inside one.
///
/// A thread state is kept until its thread ends: making one for each call costs 60 times the call.
class GilScope {
 public:
  enum class Entering { kRunsDeferredWork, kBare };
  explicit GilScope(Entering entering = Entering::kRunsDeferredWork);
  ~GilScope();
  GilScope(const GilScope&) = delete;
  GilScope& operator=(const GilScope&) = delete;

  PythonThread& thread() const noexcept { return *thread_; }

 private:
  PythonThread* thread_;
  PyThreadState* attached_ = nullptr;  // NULL: the thread held the GIL before
};

/// Asserts, in debug builds, that the calling thread may wait for the GIL.
void expect_no_lock_held() noexcept;

/// In a process that was just forked: its other threads are gone, and Python frees their states.
void forget_other_threads() noexcept;

/// Lets the calling thread, which started the interpreter and holds the GIL, keep its thread state for good.
void adopt_starting_thread();

/// Whether this thread may call Python: not after its thread-local values were destroyed.
bool thread_may_enter() noexcept;

/// Where Python runs, the calling thread has a lasting state from now on.
void make_thread_known() noexcept;

/// The calling thread, or NULL before its first scope. Needs no GIL.
PythonThread* this_python_thread() noexcept;

/// The first of all threads known to the bridge. The caller holds the GIL.
PythonThread* first_thread() noexcept;

}  // namespace simple_torch::bridge
