// The handler part only marks and forwards. A watcher thread reaches the threads that Python's signal
// handling never stops, and ends a program that the first interrupt has not stopped.
#include "bridge/runtime/interrupts.h"

#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <optional>
#include <thread>
#include <utility>

#include "bridge/objects/errors.h"
#include "bridge/runtime/default_interrupt_service.h"
#include "bridge/runtime/python_process.h"
#include "bridge/runtime/signal_module.h"
#include "bridge/runtime/uninterruptible_frames.h"

namespace simple_torch::bridge {
namespace {

// The handler touches only these; all are lock-free.
constexpr int kMain = 1 << 30;
std::atomic<int> inside{0};  // threads inside Python; the main thread counts kMain. One value, because the
                             // handler may run between two instructions.
std::atomic<bool> main_requested{false};     // the main thread was asked to stop and is still inside
std::atomic<bool> workers_requested{false};  // the other threads were asked, and none has left yet
std::atomic<bool> is_for_workers{false};     // the watcher has to interrupt the other threads
std::atomic<bool> is_waking_main{false};     // the watcher sends SIGINT to the main thread
std::atomic<bool> is_ending{false};          // a second interrupt came before the first took effect
std::atomic<unsigned> main_count{0};         // interrupts of the main thread
using Clock = std::chrono::steady_clock;

// Guarded by the GIL.
bool has_watcher = false;                          // not in a forked child
bool is_main_due = false;                          // the watcher repeats an interrupt of the main thread
std::optional<Clock::time_point> postponed_since;  // until the main thread's interrupt is raised
int wakes_left = 0;                                // signals to the main thread, until Python's handler runs
Clock::time_point last_wake;

pthread_t python_main;
bool main_is_first_thread = true;
sem_t for_watcher;

const SplInterruptService& interrupt_service() {
  const SplInterruptService* service = services().host.interrupts;
  return service != nullptr ? *service : default_interrupt_service();
}

// ---- the client, called in the signal handler

void read(SplInterruptClientState* out) {
  const int threads = inside.load();
  *out = {.main_inside = threads >= kMain ? 1 : 0,
          .workers_inside = threads % kMain,
          .main_is_first_thread = main_is_first_thread ? 1 : 0,
          .on_main_thread = is_python_main() ? 1 : 0,
          .main_requested = main_requested.load() ? 1 : 0,
          .workers_requested = workers_requested.load() ? 1 : 0,
          .is_ending = is_ending.load() ? 1 : 0,
          .is_wake_up = is_python_main() && is_waking_main.exchange(false) ? 1 : 0};
}

void perform(uint32_t actions, SplInterruptClientState next) {
  if ((actions & SPL_INTERRUPT_FORWARD) != 0) {
    pthread_kill(python_main, SIGINT);  // only there does it end a blocking call, such as sleep
  }
  if ((actions & SPL_INTERRUPT_STOP_MAIN) != 0) {
    main_requested.store(true);
    ++main_count;
    PyErr_SetInterruptEx(SIGINT);
  }
  if ((actions & SPL_INTERRUPT_STOP_WORKERS) != 0) {
    workers_requested.store(next.workers_requested != 0);
    is_for_workers.store(true);
    sem_post(&for_watcher);
  }
  if ((actions & SPL_INTERRUPT_END) != 0) {
    is_ending.store(true);
    sem_post(&for_watcher);
  }
}

constexpr SplInterruptClient kClient{read, perform};

// ---- the watcher

/// For every thread inside Python except the main one.
void request_worker_interrupts() {
  const GilScope gil;
  for (PythonThread* thread = first_thread(); thread != nullptr; thread = thread->next) {
    if (thread->inside == 1) {
      thread->interrupt = WorkerInterrupt::kDue;
    }
  }
}

/// Raises KeyboardInterrupt asynchronously where that leaves no lock held. Returns whether an interrupt is
/// still due.
bool send_due_interrupts() {
  const GilScope gil;
  bool is_sent = false;
  bool is_due = false;
  for (PythonThread* thread = first_thread(); thread != nullptr; thread = thread->next) {
    if (thread->interrupt == WorkerInterrupt::kDue && !is_in_uninterruptible_frame(*thread)) {
      thread->interrupt = PyThreadState_SetAsyncExc(thread->python_id, PyExc_KeyboardInterrupt) == 1
                              ? WorkerInterrupt::kSent
                              : WorkerInterrupt::kNone;
    }
    is_sent = is_sent || thread->interrupt == WorkerInterrupt::kSent;
    is_due = is_due || thread->interrupt == WorkerInterrupt::kDue;
  }
  if (!is_sent && !is_due) {
    workers_requested.store(false);
  }
  return is_due;
}

/// Importlib may wait for a module that another thread imports, and a finalizer for anything; the interrupt
/// ends that wait. The body of a module is usually short, and may be long.
constexpr std::chrono::seconds kLongestPostponement{3};
constexpr std::chrono::milliseconds kBodyPostponement{20};

/// Whether a postponed interrupt is due now, where the main thread is.
bool is_postponement_over(const PythonThread& main) {
  const auto elapsed = Clock::now() - *postponed_since;
  switch (python_step(main)) {
    case PythonStep::kOther:
      return true;
    case PythonStep::kModuleBody:
      return elapsed > kBodyPostponement;
    case PythonStep::kImportlib:
    case PythonStep::kFinalizer:
      return elapsed > kLongestPostponement;
  }
  return true;
}

/// Whether an interrupt has to wait where the main thread is.
bool has_to_wait(const PythonThread& main) {
  const PythonStep step = python_step(main);
  return step == PythonStep::kImportlib || step == PythonStep::kFinalizer;
}

/// A pending call of Python: the main thread runs it wherever it checks for signals, so that it finds the
/// first such place outside the import or finalizer. If Python's queue is full, the watcher repeats the
/// interrupt.
int raise_postponed(void* /*nothing*/) {
  const PythonThread* const main = this_python_thread();
  if (!is_main_due || main == nullptr) {
    return 0;
  }
  if (!is_postponement_over(*main)) {
    Py_AddPendingCall(raise_postponed, nullptr);
    return 0;
  }
  is_main_due = false;
  postponed_since.reset();
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  return -1;
}

/// Called by Python's handler of SIGINT, under the GIL on the main thread. An exception in importlib's code
/// may leave its lock held for good, and Python ignores one in a finalizer. Returns whether the interrupt is
/// raised later.
bool postpone_main_interrupt() {
  const PythonThread* const main = this_python_thread();
  const auto now = Clock::now();
  wakes_left = 0;
  is_main_due = has_watcher && main != nullptr && main->inside != 0 && has_to_wait(*main) &&
                now - postponed_since.value_or(now) <= kLongestPostponement;
  if (!is_main_due) {
    postponed_since.reset();
    return false;
  }
  postponed_since = postponed_since.value_or(now);
  Py_AddPendingCall(raise_postponed, nullptr);
  sem_post(&for_watcher);
  return true;
}

const PythonThread* main_thread() noexcept {
  const PythonThread* thread = first_thread();
  while (thread != nullptr && !thread->is_main) {
    thread = thread->next;
  }
  return thread;
}

/// Ends a blocking call of the main thread, which then runs Python's handler.
void wake_main() noexcept {
  struct sigaction action {};
  const bool is_handled =
      sigaction(SIGINT, nullptr, &action) == 0 &&
      ((action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN));
  if (is_handled) {
    is_waking_main.store(true);
    pthread_kill(python_main, SIGINT);
  }
}

/// A signal that arrives just before the main thread enters the blocking call does not end it, so it is sent
/// again. Returns whether the main thread may need another one.
bool wake_main_again() {
  constexpr std::chrono::milliseconds kInterval{20};
  const auto now = Clock::now();
  if (wakes_left > 0 && now - last_wake >= kInterval) {
    --wakes_left;
    last_wake = now;
    wake_main();
  }
  return wakes_left > 0;
}

/// Lets Python's handler run again, also in a blocking call. Returns whether that is still due.
bool repeat_postponed_interrupt() {
  const GilScope gil;
  if (!is_main_due) {
    return wake_main_again();
  }
  const PythonThread* const main = main_thread();
  if (main != nullptr && !is_postponement_over(*main)) {
    return true;
  }
  constexpr int kMostWakes = 50;
  is_main_due = false;
  wakes_left = kMostWakes;
  last_wake = {};
  PyErr_SetInterruptEx(SIGINT);
  return wake_main_again();
}

/// Flushes the streams and dies by SIGINT. Does no other work, because a thread may hang.
void end_program() {
  std::fflush(nullptr);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
  std::signal(SIGINT, SIG_DFL);
  raise(SIGINT);
}

/// Waits for a post, at most for a millisecond while an interrupt is due. Returns whether there was one.
bool wait_for_post(bool is_due) {
  if (!is_due) {
    return sem_wait(&for_watcher) == 0;
  }
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  constexpr long kSecond = 1'000'000'000;
  until.tv_nsec += 1'000'000;
  until.tv_sec += until.tv_nsec / kSecond;
  until.tv_nsec %= kSecond;
  return sem_timedwait(&for_watcher, &until) == 0;
}

void watch() {
  bool is_due = false;
  while (true) {
    if (wait_for_post(is_due)) {
      if (is_ending.load()) {
        end_program();
      }
      if (is_for_workers.exchange(false)) {
        request_worker_interrupts();
      }
      is_due = true;
    }
    if (is_due) {
      const bool is_worker_due = send_due_interrupts();
      is_due = repeat_postponed_interrupt() || is_worker_due;
    }
  }
}

void start_watcher() {
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  std::thread(watch).detach();
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  has_watcher = true;
}

/// In a forked child: only the forking thread exists there.
void reset_interrupts_after_fork() {
  python_main = pthread_self();
  main_is_first_thread = true;
  PythonThread* const thread = this_python_thread();
  const bool is_inside = thread != nullptr && thread->inside != 0;
  inside.store(is_inside ? kMain : 0);
  if (thread != nullptr) {
    thread->is_main = true;
    thread->inside = inside.load();
  }
  main_requested.store(false);
  workers_requested.store(false);
  is_for_workers.store(false);
  has_watcher = false;
  is_main_due = false;
  wakes_left = 0;
  postponed_since.reset();
  is_waking_main.store(false);
}

void reclaim_handler() { interrupt_service().reclaim(); }

/// Lets Python handle all pending signals now. An exception that is already set is replaced only if a handler
/// raises one.
[[gnu::noinline, gnu::cold]] bool pending_signal_raises() noexcept {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (PyErr_CheckSignals() == 0) {
    PyErr_Restore(type, value, traceback);
    return false;
  }
  // A handler that raises leaves the signals after it pending.
  constexpr int kMostSignals = 64;
  for (int i = 0; i < kMostSignals && PyErr_Occurred() != nullptr; ++i) {
    PyErr_Clear();
    PyErr_CheckSignals();
  }
  PyErr_Clear();
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return true;
}

/// Returns whether it has not been raised.
[[gnu::noinline, gnu::cold]] bool take_worker_interrupt(const PythonThread& thread,
                                                        WorkerInterrupt interrupt) noexcept {
  workers_requested.store(false);
  if (interrupt == WorkerInterrupt::kDue) {
    return true;
  }
  const bool is_not_raised = PyThreadState_Get()->async_exc != nullptr;
  PyThreadState_SetAsyncExc(thread.python_id, nullptr);
  return is_not_raised;
}

}  // namespace

bool install_interrupts() {
  python_main = pthread_self();
  main_is_first_thread = gettid() == getpid();
  sem_init(&for_watcher, 0, 0);
  set_signal_request(main_is_first_thread ? interrupt_service().request_signal_check : nullptr);
  const bool is_reporting = report_python_signals();
  if (interrupt_service().attach(&kClient) != 0) {
    return is_reporting;  // SIGINT is ignored, as for a program in the background; Python leaves it ignored,
                          // too
  }
  pthread_atfork(nullptr, nullptr, reset_interrupts_after_fork);
  start_watcher();
  const bool is_prepared = use_default_int_handler(postpone_main_interrupt);
  call_after_sigint_handlers(reclaim_handler);
  reclaim_handler();  // Python's signal module has replaced it
  return is_reporting && is_prepared;
}

const SplInterruptClient& interrupt_client() noexcept { return kClient; }

void count_main_interrupt() noexcept { ++main_count; }

void set_python_main(pthread_t thread) noexcept { python_main = thread; }

bool is_python_main() noexcept { return pthread_equal(pthread_self(), python_main) != 0; }

// Only the thread that holds the GIL changes the number.
void entering_python(PythonThread& thread) noexcept {
  thread.inside = thread.is_main || is_main_of_python_process() ? kMain : 1;
  inside.store(inside.load(std::memory_order_relaxed) + thread.inside, std::memory_order_release);
}

void abandon_python(PythonThread& thread) noexcept {
  inside.store(inside.load(std::memory_order_relaxed) - std::exchange(thread.inside, 0),
               std::memory_order_release);
}

bool leaving_python(PythonThread& thread) noexcept {
  abandon_python(thread);  // from here on, a signal does not stop this thread inside Python
  if (thread.is_main) {
    const bool is_postponed = std::exchange(is_main_due, false);
    postponed_since.reset();
    wakes_left = 0;
    is_waking_main.store(false, std::memory_order_relaxed);
    if (!main_requested.load() || !main_requested.exchange(false)) {
      return is_postponed;
    }
    workers_requested.store(false);  // the interrupt took effect; other threads may never check
    return pending_signal_raises() || is_postponed;
  }
  const WorkerInterrupt interrupt = std::exchange(thread.interrupt, WorkerInterrupt::kNone);
  return interrupt != WorkerInterrupt::kNone && take_worker_interrupt(thread, interrupt);
}

unsigned interrupt_count(const PythonThread& thread) noexcept {
  if (thread.is_main || is_main_of_python_process()) {
    return main_count.load();
  }
  return thread.interrupt == WorkerInterrupt::kNone ? 0 : 1;
}

void rearm_interrupt(PythonThread& thread) noexcept {
  if (thread.is_main) {
    main_requested.store(true);  // code in C runs no bytecode that would check
    PyErr_SetInterruptEx(SIGINT);
    return;
  }
  const bool is_sent = PyThreadState_SetAsyncExc(thread.python_id, PyExc_KeyboardInterrupt) == 1;
  thread.interrupt = is_sent ? WorkerInterrupt::kSent : WorkerInterrupt::kNone;
  workers_requested.store(is_sent);
}

}  // namespace simple_torch::bridge
