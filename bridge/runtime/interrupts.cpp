// SIGINT: the handler only marks and forwards; a watcher thread reaches the threads that Python's own
// signal handling never stops, and ends a program that the first Ctrl-C has not stopped.
#include "bridge/runtime/interrupts.h"

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <thread>
#include <utility>

#include "bridge/runtime/backend.h"

namespace simple_torch::bridge {
namespace {

// The handler touches only these; all are lock-free.
constexpr int kMain = 1 << 30;
std::atomic<int> inside{0};  // threads inside Python; kMain is the one that started it: one value, as the
                             // handler may come between any two
std::atomic<bool> main_tripped{false};     // it has been told, and has not left yet
std::atomic<unsigned> main_presses{0};     // all that it has been told of
std::atomic<bool> workers_tripped{false};  // the others have been told, and none has left yet
std::atomic<bool> is_ending{false};        // a second one came before the first took effect
pthread_t python_main;
bool main_is_first = true;  // of the process's threads
struct sigaction before;
sem_t for_watcher;

// In a process whose Python runs us.
std::atomic<void (*)()> interrupt_program{nullptr};
std::atomic<bool> main_in_program{false};  // Python's main thread waits for a function of the program
PyObject* get_handler = nullptr;           // _signal.getsignal and its default_int_handler; kept for good
PyObject* default_handler = nullptr;

/// Gives the signal to who had it before us.
void pass_on(int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler == SIG_DFL) {
    sigaction(signal, &before, nullptr);
    raise(signal);  // takes effect when this handler returns
  } else if (before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  }
}

/// As if nobody had a handler.
void die_by(int signal) {
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void on_interrupt(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const int threads_inside = inside.load();
  const bool with_main = threads_inside >= kMain;
  if (with_main && pthread_equal(pthread_self(), python_main) == 0) {
    pthread_kill(python_main, signal);  // only there does it end a blocking call, such as sleep
  } else if (threads_inside == 0) {
    pass_on(signal, info, context);
  } else if (is_ending.load()) {
    die_by(signal);  // nor has the watcher been able to end it
  } else if (main_tripped.load() || workers_tripped.load()) {
    is_ending.store(true);
    sem_post(&for_watcher);
  } else {
    if (with_main) {
      main_tripped.store(true);
      ++main_presses;
      PyErr_SetInterruptEx(signal);
    }
    const bool has_others = !(with_main && main_is_first) &&
                            backend_services().threads_at_work() > threads_inside % kMain + with_main;
    if (has_others) {
      pass_on(signal, info, context);  // for those that run Simple meanwhile
    }
    if (threads_inside != (with_main ? kMain : 0)) {
      workers_tripped.store(!has_others);  // else the host knows a second one
      sem_post(&for_watcher);
    }
  }
  errno = saved_errno;
}

void on_interrupt_in_python(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  void (*interrupt)() = interrupt_program.load();
  if (interrupt != nullptr && main_in_program.load() && inside.load() < kMain) {
    interrupt();
  } else {
    ++main_presses;
    pass_on(signal, info, context);
  }
  errno = saved_errno;
}

/// In a process whose Python runs us, and has said so by `watch_interrupts`.
bool is_main_of_python() noexcept {
  return interrupt_program != nullptr && pthread_equal(pthread_self(), python_main) != 0;
}

/// Without SA_RESTART: blocking calls must end.
bool handle_interrupts_by(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction ours {};
  ours.sa_sigaction = handler;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  return sigaction(SIGINT, &ours, nullptr) == 0;
}

bool has_plain_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

/// Takes SIGINT over from Python's own handler, which Python may have put there again since.
void take_over_from_python() {
  static std::atomic<void (*)(int)> pythons{nullptr};
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  if (!has_plain_handler(now) || (pythons != nullptr && pythons != now.sa_handler)) {
    return;
  }
  pythons = now.sa_handler;
  before = now;
  handle_interrupts_by(on_interrupt_in_python);
}

/// Throws KeyboardInterrupt into every thread but the main one that is inside Python.
void interrupt_workers() {
  const GilScope gil;
  bool any = false;
  for (PythonThread* thread = first_thread(); thread != nullptr; thread = thread->next) {
    if (thread->inside == 1) {
      thread->interrupted = PyThreadState_SetAsyncExc(thread->python_id, PyExc_KeyboardInterrupt) == 1;
      any = any || thread->interrupted;
    }
  }
  if (!any) {
    workers_tripped.store(false);
  }
}

/// What was printed is written; no other work is done, as something may hang.
void end_program() {
  std::fflush(nullptr);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
  die_by(SIGINT);
}

void watch() {
  while (true) {
    if (sem_wait(&for_watcher) == 0) {
      if (is_ending.load()) {
        end_program();
      }
      interrupt_workers();
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
}

/// In a forked child only the forking thread lives on.
void in_forked_child() {
  python_main = pthread_self();
  main_is_first = true;
  PythonThread* const thread = this_python_thread();
  const bool is_inside = thread != nullptr && thread->inside != 0;
  inside.store(is_inside ? kMain : 0);
  if (thread != nullptr) {
    thread->is_main = true;
    thread->inside = inside.load();
  }
  main_tripped.store(false);
  workers_tripped.store(false);
}

/// Python's signal.signal: where it puts Python's own handler, ours comes before that again.
PyObject* set_handler(PyObject* original, PyObject* arguments) {
  Ref result(PyObject_Call(original, arguments, nullptr));
  struct sigaction now {};
  if (result && sigaction(SIGINT, nullptr, &now) == 0 && has_plain_handler(now)) {
    handle_interrupts_by(on_interrupt);
  }
  return result.release();
}

/// asyncio.run and others set a handler for a while, and then the one that was there.
bool stay_before_pythons_handler() {
  static PyMethodDef method{"signal", set_handler, METH_VARARGS,
                            "As Python's own; Ctrl-C stops Simple, too."};
  const Ref module(PyImport_ImportModule("_signal"));
  const Ref original(module ? PyObject_GetAttrString(module.get(), "signal") : nullptr);
  const Ref ours(original ? PyCFunction_New(&method, original.get()) : nullptr);
  return ours && PyObject_SetAttrString(module.get(), "signal", ours.get()) == 0;
}

/// Python must believe that SIGINT is its own, or PyErr_SetInterruptEx does nothing.
bool let_python_raise_keyboard_interrupt() {
  const Ref module(PyImport_ImportModule("_signal"));
  const Ref handler(module ? PyObject_GetAttrString(module.get(), "default_int_handler") : nullptr);
  const Ref old(handler ? PyObject_CallMethod(module.get(), "signal", "iO", SIGINT, handler.get()) : nullptr);
  return static_cast<bool>(old);
}

/// Lets Python handle the signal now. An exception that pends already gives way only to KeyboardInterrupt.
bool pending_signal_raises() noexcept {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (PyErr_CheckSignals() == 0) {
    PyErr_Restore(type, value, traceback);
    return false;
  }
  PyErr_Clear();
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return true;
}

}  // namespace

bool install_interrupts() {
  sigaction(SIGINT, nullptr, &before);
  if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN) {
    return true;  // as Python does in a program that was started to ignore it, in the background
  }
  if (!let_python_raise_keyboard_interrupt() || !stay_before_pythons_handler()) {
    return false;
  }
  python_main = pthread_self();
  main_is_first = gettid() == getpid();
  sem_init(&for_watcher, 0, 0);
  pthread_atfork(nullptr, nullptr, in_forked_child);
  start_watcher();
  return handle_interrupts_by(on_interrupt);
}

bool watch_interrupts(void (*interrupt)()) {
  const Ref threading(PyImport_ImportModule("threading"));
  const Ref main(threading ? PyObject_CallMethod(threading.get(), "main_thread", nullptr) : nullptr);
  const Ref ident(main ? PyObject_GetAttrString(main.get(), "ident") : nullptr);
  if (!ident) {
    return false;
  }
  const Ref module(PyImport_ImportModule("_signal"));
  Ref get(module ? PyObject_GetAttrString(module.get(), "getsignal") : nullptr);
  Ref handler(module ? PyObject_GetAttrString(module.get(), "default_int_handler") : nullptr);
  if (!get || !handler) {
    return false;
  }
  get_handler = get.release();
  default_handler = handler.release();
  python_main = static_cast<pthread_t>(PyLong_AsUnsignedLong(ident.get()));
  interrupt_program = interrupt;
  return PyErr_Occurred() == nullptr;
}

/// Python code may have put a handler of its own there: it is to run, when the function returns.
bool raises_keyboard_interrupt() noexcept {
  const PendingException pending;
  const Ref number(PyLong_FromLong(SIGINT));
  const Ref now(number ? PyObject_CallOneArg(get_handler, number.get()) : nullptr);
  PyErr_Clear();
  return now && now.get() == default_handler;
}

bool entering_program() noexcept {
  if (!is_main_of_python()) {
    return false;
  }
  if (!main_in_program && !raises_keyboard_interrupt()) {
    return false;
  }
  take_over_from_python();
  return main_in_program.exchange(true);
}

void leaving_program(bool was_in_program) noexcept {
  if (is_main_of_python()) {
    main_in_program = was_in_program;
  }
}

// Only who has the GIL changes the number.
void entering_python(PythonThread& thread) noexcept {
  thread.inside = thread.is_main || is_main_of_python() ? kMain : 1;
  inside.store(inside.load(std::memory_order_relaxed) + thread.inside, std::memory_order_release);
}

bool leaving_python(PythonThread& thread) noexcept {
  // A signal from here on goes to who had it before.
  inside.store(inside.load(std::memory_order_relaxed) - std::exchange(thread.inside, 0),
               std::memory_order_release);
  if (thread.is_main) {
    if (!main_tripped.load() || !main_tripped.exchange(false)) {
      return false;
    }
    workers_tripped.store(false);  // it has taken effect, though others of Python's threads may never look up
    return pending_signal_raises();
  }
  if (!thread.interrupted) {
    return false;
  }
  thread.interrupted = false;
  workers_tripped.store(false);
  const bool still_to_come = PyThreadState_Get()->async_exc != nullptr;
  PyThreadState_SetAsyncExc(thread.python_id, nullptr);
  return still_to_come;
}

unsigned presses_for(const PythonThread& thread) noexcept {
  return thread.is_main || is_main_of_python() ? main_presses.load() : thread.interrupted ? 1 : 0;
}

void interrupt_again(PythonThread& thread) noexcept {
  if (thread.is_main) {
    main_tripped.store(true);  // code of C alone runs no bytecode that would look
    PyErr_SetInterruptEx(SIGINT);
    return;
  }
  thread.interrupted = PyThreadState_SetAsyncExc(thread.python_id, PyExc_KeyboardInterrupt) == 1;
  workers_tripped.store(thread.interrupted);
}

}  // namespace simple_torch::bridge
