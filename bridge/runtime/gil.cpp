// Thread states: created once per thread, kept, and queued for destruction when their thread ends.
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

// Trivial types, which stay readable while the thread's other values are destroyed. The initial-exec model
// needs no call; it is safe because this library is never unloaded.
[[gnu::tls_model("initial-exec")]] thread_local PythonThread* this_thread = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local bool ended = false;

/// Deletes the state of an ended thread. Called on another thread, which holds the GIL.
void destroy_state(PyThreadState* ended_state) {
#if PY_VERSION_HEX < 0x030C0000
  PyThreadState_Clear(ended_state);
  PyThreadState_Delete(ended_state);
#else
  // From 3.12 on, PyThreadState_Delete unbinds the calling thread's own state, and the next
  // PyGILState_Release aborts. A temporary state is unbound instead; PyEval_RestoreThread binds ours again.
  PyThreadState* const own = PyThreadState_Get();
  PyThreadState* const temporary = PyThreadState_New(PyThreadState_GetInterpreter(own));
  if (temporary == nullptr) {
    return;  // out of memory: leak the state
  }
  PyThreadState_Swap(temporary);
  PyThreadState_Clear(ended_state);
  PyThreadState_Delete(ended_state);
  PyThreadState_Clear(temporary);
  PyThreadState_DeleteCurrent();
  park_on_forced_unwind([&] { PyEval_RestoreThread(own); });
#endif
}

/// Called under the GIL, after the thread's own values were destroyed.
void destroy_thread(void* record) {
  auto* thread = static_cast<PythonThread*>(record);
  for (PythonThread** link = &threads; *link != nullptr; link = &(*link)->next) {
    if (*link == thread) {
      *link = thread->next;
      break;
    }
  }
  drop_exception(*thread);
  if (thread->state != nullptr) {
    destroy_state(thread->state);
  }
  delete thread;
}

void at_thread_end(void* thread) {
  ended = true;
  free_node_cache();
  queue_release(PendingKind::kReference, destroy_thread, thread);
}

/// A pthread key runs its destructor when the thread ends. A thread_local object would be destroyed by exit()
/// already, whose exit functions may still call Python on that thread.
void set_thread_end_handler(PythonThread* thread) {
  static const std::optional<pthread_key_t> key = [] {
    pthread_key_t created{};
    return pthread_key_create(&created, at_thread_end) == 0 ? std::optional(created) : std::nullopt;
  }();
  if (key) {
    pthread_setspecific(*key, thread);
  }
}

/// Called under the GIL, once per thread.
[[gnu::noinline, gnu::cold]] void register_state(PyThreadState* state) {
  this_thread = new PythonThread{.state = state,
                                 .cached = state,
                                 .python_id = PyThread_get_thread_ident(),
                                 .handled_exceptions = handled_exceptions_here(),
                                 .next = threads};
  threads = this_thread;
  set_thread_end_handler(this_thread);
}

/// For a thread that calls Python for the first time. Returns with the GIL held.
[[gnu::noinline, gnu::cold]] PyThreadState* create_state() {
  // Ensure's count is never released, so that no Release deletes the state.
  park_on_forced_unwind([] { PyGILState_Ensure(); });
  PyThreadState* const created = PyGILState_GetThisThreadState();
  register_state(created);
  return created;
}

}  // namespace

bool may_touch_unready_python() noexcept {
  if (!is_python_finalizing() && Py_IsInitialized() != 0) {
    return true;
  }
  // Whether the thread holds the GIL: after finalization PyGILState_Check returns 1 for every thread.
  PyThreadState* running = _PyThreadState_UncheckedGet();
  return running != nullptr && running == PyGILState_GetThisThreadState();
}

void expect_no_lock_held() noexcept {
  assert(backend_services().held_locks() == 0 && "a backend lock is held while the GIL is requested");
}

void forget_python_frames() noexcept {
  PyThreadState& state = *PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030D0000
  state.current_frame = nullptr;
#else
#if PY_VERSION_HEX < 0x030B0000
  state.frame = nullptr;
#else
  state.root_cframe.current_frame = nullptr;
#endif
  state.cframe = &state.root_cframe;
#endif
  state.exc_info = &state.exc_state;
}

void drop_exception(PythonThread& thread) noexcept { Py_CLEAR(thread.exception); }

void drop_all_exceptions() noexcept {
  for (PythonThread* thread = threads; thread != nullptr; thread = thread->next) {
    drop_exception(*thread);
  }
}

bool can_thread_enter() noexcept { return !ended; }

PythonThread* first_thread() noexcept { return threads; }

void register_thread() noexcept {
  if (this_thread == nullptr && can_thread_enter() && python_is_started()) {
    park_on_forced_unwind([] { const GilScope gil; });
  }
}

PythonThread* this_python_thread() noexcept { return this_thread; }

void drop_other_thread_states() noexcept {
  for (PythonThread* thread = threads; thread != nullptr; thread = thread->next) {
    if (thread != this_thread) {
      thread->state = nullptr;  // a thread that ended before the fork is in the pending queue
      thread->cached = nullptr;
    }
  }
}

void adopt_starting_thread() {
  register_state(nullptr);
  this_thread->cached = PyThreadState_Get();
  this_thread->is_main = true;
}

GilScope::GilScope(OnEnter entering) {
  expect_no_lock_held();
  PyThreadState* cached = this_thread == nullptr ? nullptr : this_thread->cached;
  PyThreadState* known = cached != nullptr ? cached : PyGILState_GetThisThreadState();
  if (known == nullptr) {
    attached_ = create_state();
  } else if (_PyThreadState_UncheckedGet() != known) {
    park_on_forced_unwind([&] { PyEval_RestoreThread(known); });
    attached_ = known;
  }
  if (this_thread == nullptr) {
    register_state(nullptr);
  }
  thread_ = this_thread;
  if (entering == OnEnter::kDrainPending) {
    drain_pending_releases();
  }
}

GilScope::~GilScope() {
  if (attached_ != nullptr) {
    PyEval_SaveThread();
  }
}

}  // namespace simple_torch::bridge
