// Starting Python so that it behaves as the chosen environment's own, and ending it in order.
#include "bridge/runtime/interpreter.h"

#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "bridge/runtime/decref_worker.h"
#include "bridge/runtime/entry.h"
#include "bridge/runtime/pending_release.h"
#include "bridge/tensors/tensor_type.h"

namespace simple_torch::bridge {

constinit std::atomic<PythonState> python_state{PythonState::kNotStarted};

namespace {

std::mutex starting;             // never taken by a thread that holds the GIL
std::string* refusal = nullptr;  // never freed: read until the process ends
bool ours = false;               // no Python ran before: we start it. Set once, before any start.

bool set_string(PyConfig& config, wchar_t** field, const char* value, std::string& error) {
  const PyStatus status = PyConfig_SetBytesString(&config, field, value);
  if (PyStatus_Exception(status) != 0) {
    error = status.err_msg != nullptr ? status.err_msg : "unknown reason";
  }
  return PyStatus_Exception(status) == 0;
}

/// As python -I: neither PYTHON… variables nor the user site count.
bool wants_isolation() {
  const char* value = std::getenv("SIMPLE_PYTHON_ISOLATED");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

/// Starts the interpreter as if `python` itself had been run. Afterwards this thread holds the GIL.
bool initialize(const char* python, std::string& error) {
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.parse_argv = 0;
  config.isolated = wants_isolation() ? 1 : 0;
  config.install_signal_handlers = 0;  // see interrupts.h
  bool good = set_string(config, &config.program_name, python, error) &&
              set_string(config, &config.executable, python, error);
  if (good) {
    char empty[] = "";
    char* argv[] = {empty};
    PyStatus status = PyConfig_SetBytesArgv(&config, 1, argv);
    if (PyStatus_Exception(status) == 0) {
      status = Py_InitializeFromConfig(&config);
    }
    good = PyStatus_Exception(status) == 0;
    if (!good) {
      error = status.err_msg != nullptr ? status.err_msg : "unknown reason";
    }
  }
  PyConfig_Clear(&config);
  return good;
}

/// As Python's own program does: a write to a closed pipe is BrokenPipeError, not the end of the process.
void ignore_broken_pipes() {
  struct sigaction now {};
  if (sigaction(SIGPIPE, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
      now.sa_handler == SIG_DFL) {
    std::signal(SIGPIPE, SIG_IGN);
  }
}

/// Appends the folder with our own Python helpers to sys.path.
bool add_helpers_to_path() {
  PyObject* path = PySys_GetObject("path");  // borrowed
  const std::string folder = std::string(services().environment->library_dir) + "/../share/python";
  const Ref entry(PyUnicode_DecodeFSDefault(folder.c_str()));
  if (path == nullptr || !entry) {
    return false;
  }
  const int known = PySequence_Contains(path, entry.get());
  return known == 1 || (known == 0 && PyList_Append(path, entry.get()) == 0);
}

/// Whole lines leave at once, so that they keep their order among those that the host prints.
void flush_at_line_ends() {
  PyObject* out = PySys_GetObject("stdout");  // borrowed
  const Ref reconfigure(out != nullptr ? PyObject_GetAttrString(out, "reconfigure") : nullptr);
  const Ref none(reconfigure ? PyTuple_New(0) : nullptr);
  const Ref options(none ? Py_BuildValue("{s:O}", "line_buffering", Py_True) : nullptr);
  const Ref done(options ? PyObject_Call(reconfigure.get(), none.get(), options.get()) : nullptr);
  PyErr_Clear();  // a stream of another kind, or none: nothing to set
}

/// Warnings look as the host's own do.
void show_warnings_as_the_host_does() {
  const Ref helper(PyImport_ImportModule("simple_torch_helpers.warning_lines"));
  const Ref done(helper ? PyObject_CallMethod(helper.get(), "install", nullptr) : nullptr);
  PyErr_Clear();  // without the module warnings look as Python's
}

/// Checks, before torch is imported, that it is the one whose LibTorch is in use. "" when it is.
std::string why_wrong_torch() {
  const Ref helpers(PyImport_ImportModule("simple_torch_helpers.environment"));
  const Ref answer(
      helpers ? PyObject_CallMethod(helpers.get(), "why_wrong_torch", "s", services().environment->torch_dir)
              : nullptr);
  const char* text = answer ? PyUnicode_AsUTF8(answer.get()) : nullptr;
  return text != nullptr ? text : take_python_error().message;
}

void refuse_calls() noexcept {
  PythonState running = PythonState::kRunning;
  python_state.compare_exchange_strong(running, PythonState::kClosed);
  leak_deferred_work();
}

/// Everything queued runs, then nothing is queued any more. The caller holds the GIL, which is given away
/// for the while that the drainer takes to end.
void close_for_good() noexcept {
  PyThreadState* const held = PyEval_SaveThread();
  end_drainer();
  PyEval_RestoreThread(held);
  run_last_deferred_work();
  refuse_calls();
}

void refuse(const std::string& reason) {
  refusal = new std::string(reason);
  python_state.store(PythonState::kRefused, std::memory_order_release);
}

/// Python's exit work, once. The caller holds the GIL.
void run_exit_work();

/// The end of the process. The GIL is not given back: no Python code may run while static objects die. Where
/// a fork has lost it the process ends here: static objects of torch 2.11 would wait for it.
void at_exit(int status, void* /*nothing*/) {
  if (python_state.load() == PythonState::kForked) {
    std::fflush(nullptr);
    _exit(status);
  }
  PyGILState_Ensure();
  run_exit_work();
}

PyObject* on_python_exit(PyObject* /*self*/, PyObject* /*arguments*/) {
  close_for_good();
  Py_RETURN_NONE;
}

/// In a Python process: closes the bridge when Python begins to end.
bool close_with_python() {
  static PyMethodDef method{"close_simple_torch_bridge", on_python_exit, METH_NOARGS, nullptr};
  const Ref atexit(PyImport_ImportModule("atexit"));
  const Ref function(atexit ? PyCFunction_New(&method, nullptr) : nullptr);
  const Ref done(function ? PyObject_CallMethod(atexit.get(), "register", "O", function.get()) : nullptr);
  return static_cast<bool>(done);
}

/// In a process that was just forked: whether a thread has the GIL that is not there to give it back.
bool gil_is_lost() noexcept {
#if PY_VERSION_HEX >= 0x030C0000
  return PyGILState_Check() == 0;  // who has it is known to that thread alone
#else
  PyThreadState* holder = _PyThreadState_UncheckedGet();
  return holder != nullptr && holder != PyGILState_GetThisThreadState();
#endif
}

void forget_what_does_not_fork() {
  if (gil_is_lost()) {
    PythonState running = PythonState::kRunning;
    python_state.compare_exchange_strong(running, PythonState::kForked);
    leak_deferred_work();
    return;
  }
  forget_other_threads();
  forget_drainer();
}

/// The rest of the start; the caller holds the GIL.
void finish_start() {
  if (!add_helpers_to_path()) {
    refuse("Python has no usable sys.path: " + take_python_error().message);
    return;
  }
  if (const std::string reason = why_wrong_torch(); !reason.empty()) {
    refuse(reason);
    return;
  }
  if (!add_core_module()) {
    refuse("the module simple_torch._core cannot be made: " + take_python_error().message);
    return;
  }
  if (ours) {
    flush_at_line_ends();
    show_warnings_as_the_host_does();
    if (!install_interrupts()) {
      PyErr_Clear();  // without a signal module Ctrl-C ends the program, as before
    }
    register_exit_handler_last();
  } else if (!close_with_python()) {
    refuse(take_python_error().message);
    return;
  }
  pthread_atfork(nullptr, nullptr, forget_what_does_not_fork);
  python_state.store(PythonState::kRunning, std::memory_order_release);
}

constexpr const char* kInSubinterpreter =
    "this library works in Python's main interpreter only, and this is a subinterpreter";

/// Of a thread that runs Python just now; the functions by which we take the GIL know the main one alone.
bool runs_in_subinterpreter() noexcept {
  PyThreadState* running = _PyThreadState_UncheckedGet();
  return running != nullptr && PyThreadState_GetInterpreter(running) != PyInterpreterState_Main();
}

void attach() {
  if (runs_in_subinterpreter()) {
    return;
  }
  const GilScope gil;
  if (python_state.load() == PythonState::kNotStarted) {
    finish_start();
  }
}

void start_new() {
  const std::lock_guard lock(starting);
  if (python_state.load() != PythonState::kNotStarted) {
    return;
  }
  ignore_broken_pipes();
  std::string error;
  if (!initialize(services().environment->python, error)) {
    refuse(std::string(services().environment->python) + " cannot be started inside this program: " + error);
    return;
  }
  adopt_starting_thread();
  // threading takes the thread that imports it first for the main one.
  const Ref threading(PyImport_ImportModule("threading"));
  PyErr_Clear();
  finish_start();
  PyEval_SaveThread();
}

/// Calls a function; prints what it raises, as Python does at its end.
void call_at_end(const char* module, const char* function) {
  const Ref found(PyImport_ImportModule(module));
  const Ref done(found ? PyObject_CallMethod(found.get(), function, nullptr) : nullptr);
  if (!done) {
    PyErr_WriteUnraisable(found.get());
  }
}

void flush_stream(const char* name) {
  PyObject* stream = PySys_GetObject(name);  // borrowed
  if (stream != nullptr && stream != Py_None) {
    const Ref done(PyObject_CallMethod(stream, "flush", nullptr));
    PyErr_Clear();  // a closed pipe: nobody reads what is lost
  }
}

/// Ctrl-C ends what Python waits for at its end.
class Stoppable {
 public:
  Stoppable() : thread_(this_python_thread()), is_inside_(thread_ == nullptr || thread_->inside != 0) {
    if (!is_inside_) {
      entering_python(*thread_);
    }
  }
  ~Stoppable() {
    if (!is_inside_ && leaving_python(*thread_)) {
      PyErr_Clear();
    }
  }
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;

 private:
  PythonThread* thread_;
  bool is_inside_;
};

void run_exit_work() {
  static bool begun = false;  // guarded by the GIL
  if (std::exchange(begun, true)) {
    return;
  }
  run_deferred_work();
  const Stoppable stoppable;
  call_at_end("simple_torch_helpers.shutdown", "finish_threads");
  call_at_end("atexit", "_run_exitfuncs");
  call_at_end("simple_torch_helpers.shutdown", "finish_files");
  flush_stream("stdout");
  flush_stream("stderr");
  close_for_good();
}

unsigned long long loaded_libraries() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

}  // namespace

void note_whether_python_runs() noexcept { ours = Py_IsInitialized() == 0; }

bool process_is_python() noexcept { return !ours; }

int32_t start_python() noexcept {
  try {
    if (python_state.load(std::memory_order_acquire) == PythonState::kNotStarted) {
      // Where Python runs already the GIL is the lock: a mutex could meet it in the other order.
      if (ours) {
        start_new();
      } else {
        attach();
      }
    }
    const char* reason = why_closed();
    return reason == nullptr ? 0 : report_plain(ErrorKind::kUnavailable, reason);
  } catch (...) {
    return report(to_failure(std::current_exception()));
  }
}

const char* why_closed() noexcept {
  switch (python_state.load(std::memory_order_acquire)) {
    case PythonState::kRunning:
      break;
    case PythonState::kNotStarted:
      return runs_in_subinterpreter() ? kInSubinterpreter : "Python was not started";
    case PythonState::kRefused:
      return refusal->c_str();
    case PythonState::kForked:
#if PY_VERSION_HEX >= 0x030C0000
      // Whether another had it cannot be told there.
      return "this process was forked by a thread that had not Python's lock, and cannot call Python; fork "
             "by "
             "Python's os.fork or multiprocessing, or call Python in the process that started it only";
#else
      return "this process was forked while another thread had Python's lock, and cannot call Python; fork "
             "by "
             "Python's os.fork or multiprocessing, or call Python in the process that started it only";
#endif
    case PythonState::kClosed:
      return "Python was shut down; it cannot be started again in this process";
  }
  if (runs_in_subinterpreter()) {
    return kInSubinterpreter;
  }
  return thread_may_enter() ? nullptr : "this thread is ending and can call Python no more";
}

int32_t shut_python_down() noexcept {
  if (!python_is_started()) {
    refuse_calls();
    return 0;
  }
  const PyGILState_STATE held = PyGILState_Ensure();
  if (ours) {
    run_exit_work();
  } else {
    close_for_good();
  }
  PyGILState_Release(held);
  return 0;
}

void register_exit_handler_last() noexcept {
  static unsigned long long seen = 0;  // guarded by the GIL
  const unsigned long long now = loaded_libraries();
  if (ours && now != seen) {
    seen = now;
    on_exit(at_exit, nullptr);
  }
}

void stay_first_after_other_threads() noexcept {
  if (ours) {
    on_exit(at_exit, nullptr);
  }
}

bool ensure_torch() {
  static bool ready = false;  // guarded by the GIL
  if (!ready) {
    ready = static_cast<bool>(Ref(PyImport_ImportModule("torch")));
    register_exit_handler_last();
  }
  return ready;
}

}  // namespace simple_torch::bridge
