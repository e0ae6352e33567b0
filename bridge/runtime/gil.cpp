// Thread states: found, made once, kept, and given up without waiting when their thread ends.
#include "bridge/runtime/gil.h"

#include <pthread.h>

#include <cassert>
#include <optional>

#include "bridge/runtime/backend.h"
#include "bridge/runtime/forced_unwind.h"
#include "bridge/runtime/interpreter.h"
#include "bridge/runtime/pending_release.h"

namespace simple_torch::bridge {
namespace {

PythonThread* threads = nullptr;  // guarded by the GIL

// Trivial types: they can still be read while the thread's other values are being destroyed.
// Of the initial-exec model, which needs no call: this library is never unloaded.
[[gnu::tls_model("initial-exec")]] thread_local PythonThread* this_thread = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local bool ended = false;

/// Of a thread that ended, on another one, which holds the GIL.
void delete_state(PyThreadState* ended_one) {
#if PY_VERSION_HEX < 0x030C0000
  PyThreadState_Clear(ended_one);
  PyThreadState_Delete(ended_one);
#else
  // From 3.12 on PyThreadState_Delete makes the calling thread forget which state is its own, and the next
  // PyGILState_Release ends the process. A state in passing takes the loss; binding ours again mends it.
  PyThreadState* const own = PyThreadState_Get();
  PyThreadState* const passing = PyThreadState_New(PyThreadState_GetInterpreter(own));
  if (passing == nullptr) {
    return;  // no memory: the state stays
  }
  PyThreadState_Swap(passing);
  PyThreadState_Clear(ended_one);
  PyThreadState_Delete(ended_one);
  PyThreadState_Clear(passing);
  PyThreadState_DeleteCurrent();
  park_on_forced_unwind([&] { PyEval_RestoreThread(own); });
#endif
}

/// Runs under the GIL, after the thread's own values are gone.
void forget(void* what) {
  auto* thread = static_cast<PythonThread*>(what);
  for (PythonThread** link = &threads; *link != nullptr; link = &(*link)->next) {
    if (*link == thread) {
      *link = thread->next;
      break;
    }
  }
  if (thread->state != nullptr) {
    delete_state(thread->state);
  }
  delete thread;
}

void at_thread_end(void* thread) {
  ended = true;
  free_spare_work();
  defer(Deferred::kReference, forget, thread);
}

/// Its value is given up when its thread ends, and not, as thread-local objects are, when its thread calls
/// exit(): that thread goes on in exit functions, which may call Python and be called by it.
void forget_at_thread_end(PythonThread* thread) {
  static const std::optional<pthread_key_t> key = [] {
    pthread_key_t made{};
    return pthread_key_create(&made, at_thread_end) == 0 ? std::optional(made) : std::nullopt;
  }();
  if (key) {
    pthread_setspecific(*key, thread);
  }
}

/// Called under the GIL, once on each thread.
void enlist(PyThreadState* state) {
  this_thread = new PythonThread{
      .state = state, .lasting = state, .python_id = PyThread_get_thread_ident(), .next = threads};
  threads = this_thread;
  forget_at_thread_end(this_thread);
}

}  // namespace

bool has_gil_at_the_end() noexcept {
  PyThreadState* running = _PyThreadState_UncheckedGet();
  return running != nullptr && running == PyGILState_GetThisThreadState();
}

void expect_no_lock_held() noexcept {
  assert(backend_services().held_locks() == 0 && "a lock of ours is held while Python's lock is wanted");
}

bool thread_may_enter() noexcept { return !ended; }

PythonThread* first_thread() noexcept { return threads; }

void make_thread_known() noexcept {
  if (this_thread == nullptr && thread_may_enter() && python_is_started()) {
    park_on_forced_unwind([] { const GilScope gil; });
  }
}

PythonThread* this_python_thread() noexcept { return this_thread; }

void forget_other_threads() noexcept {
  for (PythonThread* thread = threads; thread != nullptr; thread = thread->next) {
    if (thread != this_thread) {
      thread->state = nullptr;  // who ended just before the fork is in the queue of deferred work
      thread->lasting = nullptr;
    }
  }
}

void adopt_starting_thread() {
  enlist(nullptr);
  this_thread->lasting = PyThreadState_Get();
  this_thread->is_main = true;
}

GilScope::GilScope(Entering entering) {
  expect_no_lock_held();
  PyThreadState* lasting = this_thread == nullptr ? nullptr : this_thread->lasting;
  PyThreadState* known = lasting != nullptr ? lasting : PyGILState_GetThisThreadState();
  if (known == nullptr) {
    // The count that Ensure starts is never taken back, so that nobody's Release deletes the state.
    park_on_forced_unwind([] { PyGILState_Ensure(); });
    attached_ = PyGILState_GetThisThreadState();
    enlist(attached_);
  } else if (_PyThreadState_UncheckedGet() != known) {
    park_on_forced_unwind([&] { PyEval_RestoreThread(known); });
    attached_ = known;
  }
  if (this_thread == nullptr) {
    enlist(nullptr);
  }
  thread_ = this_thread;
  if (entering == Entering::kRunsDeferredWork) {
    run_deferred_work();
  }
}

GilScope::~GilScope() {
  if (attached_ != nullptr) {
    PyEval_SaveThread();
  }
}

}  // namespace simple_torch::bridge
