// Starts Python as the chosen environment's interpreter, and shuts it down in order.
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

#include "abi/fork_watch.h"
#include "bridge/runtime/decref_worker.h"
#include "bridge/runtime/default_interrupt_service.h"
#include "bridge/runtime/entry.h"
#include "bridge/runtime/pending_release.h"
#include "bridge/tensors/tensor_type.h"

namespace simple_torch::bridge {

constinit std::atomic<PythonState> python_state{PythonState::kNotStarted};

namespace {

std::mutex start_mutex;              // never locked by a thread that holds the GIL
std::string* start_error = nullptr;  // never freed: read until the process ends
bool owns_interpreter = false;       // we start Python, as none ran before; set once, before any start

bool set_string(PyConfig& config, wchar_t** field, const char* value, std::string& error) {
  const PyStatus status = PyConfig_SetBytesString(&config, field, value);
  if (PyStatus_Exception(status) != 0) {
    error = status.err_msg != nullptr ? status.err_msg : "unknown reason";
  }
  return PyStatus_Exception(status) == 0;
}

/// As python -I: ignores the PYTHON* variables and the user site.
bool is_isolated() {
  const char* value = std::getenv("SIMPLE_PYTHON_ISOLATED");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

/// Starts the interpreter as if `python` itself had been run. The calling thread then holds the GIL.
bool initialize(const char* python, std::string& error) {
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.parse_argv = 0;
  config.isolated = is_isolated() ? 1 : 0;
  config.install_signal_handlers = 0;  // see interrupts.h
  bool ok = set_string(config, &config.program_name, python, error) &&
            set_string(config, &config.executable, python, error);
  if (ok) {
    char empty[] = "";
    char* argv[] = {empty};
    PyStatus status = PyConfig_SetBytesArgv(&config, 1, argv);
    if (PyStatus_Exception(status) == 0) {
      status = Py_InitializeFromConfig(&config);
    }
    ok = PyStatus_Exception(status) == 0;
    if (!ok) {
      error = status.err_msg != nullptr ? status.err_msg : "unknown reason";
    }
  }
  PyConfig_Clear(&config);
  return ok;
}

/// As the python executable does: a write to a closed pipe raises BrokenPipeError instead of SIGPIPE.
void ignore_broken_pipes() {
  struct sigaction current {};
  if (sigaction(SIGPIPE, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) == 0 &&
      current.sa_handler == SIG_DFL) {
    std::signal(SIGPIPE, SIG_IGN);
  }
}

/// Appends the folder of our Python helpers to sys.path.
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

/// Line buffering keeps Python's lines in order with the host's.
void use_line_buffering() {
  PyObject* out = PySys_GetObject("stdout");  // borrowed
  const Ref reconfigure(out != nullptr ? PyObject_GetAttrString(out, "reconfigure") : nullptr);
  const Ref none(reconfigure ? PyTuple_New(0) : nullptr);
  const Ref options(none ? Py_BuildValue("{s:O}", "line_buffering", Py_True) : nullptr);
  const Ref done(options ? PyObject_Call(reconfigure.get(), none.get(), options.get()) : nullptr);
  PyErr_Clear();  // not a text stream, or none
}

/// Shows Python's warnings in the host's format.
void install_warning_format() {
  const Ref helper(PyImport_ImportModule("simple_torch_helpers.warning_lines"));
  const Ref done(helper ? PyObject_CallMethod(helper.get(), "install", nullptr) : nullptr);
  PyErr_Clear();  // without the helper, Python's own format stays
}

/// Checks, before torch is imported, that it is the torch whose LibTorch is loaded. Empty when it is.
std::string torch_mismatch() {
  const Ref helpers(PyImport_ImportModule("simple_torch_helpers.environment"));
  const Ref answer(
      helpers ? PyObject_CallMethod(helpers.get(), "torch_mismatch", "s", services().environment->torch_dir)
              : nullptr);
  const char* text = answer ? PyUnicode_AsUTF8(answer.get()) : nullptr;
  return text != nullptr ? text : take_python_error().message;
}

void close_bridge() noexcept {
  PythonState running = PythonState::kRunning;
  python_state.compare_exchange_strong(running, PythonState::kClosed);
  unwatch_streams();
  leak_pending_releases();
}

/// Stops the worker, drains the queues, and closes the bridge. The caller holds the GIL, which is released
/// while the worker stops.
void drain_and_close() noexcept {
  PyThreadState* const held = PyEval_SaveThread();
  stop_worker();
  PyEval_RestoreThread(held);
  drop_all_exceptions();
  drain_last_releases();
  close_bridge();
}

/// The message is never freed: it is read until the process ends.
void fail_start(const std::string& reason) {
  start_error = new std::string(reason);
  python_state.store(PythonState::kStartFailed, std::memory_order_release);
}

/// Runs Python's exit work once. The caller holds the GIL.
void run_exit_work();

/// The exit handler. It keeps the GIL, so that no Python code runs while static objects are destroyed. A
/// child process that lost the GIL at a fork ends here: static objects of torch 2.11 would wait for the GIL.
void at_exit(int status, void* /*nothing*/) {
  if (python_state.load() == PythonState::kForked) {
    std::fflush(nullptr);
    _exit(status);
  }
  PyGILState_Ensure();
  run_exit_work();
}

PyObject* on_python_exit(PyObject* /*self*/, PyObject* /*arguments*/) {
  drain_and_close();
  Py_RETURN_NONE;
}

/// In a Python process: closes the bridge when Python starts to finalize.
bool close_with_python() {
  static PyMethodDef method{"close_simple_torch_bridge", on_python_exit, METH_NOARGS, nullptr};
  const Ref atexit(PyImport_ImportModule("atexit"));
  const Ref function(atexit ? PyCFunction_New(&method, nullptr) : nullptr);
  const Ref done(function ? PyObject_CallMethod(atexit.get(), "register", "O", function.get()) : nullptr);
  return static_cast<bool>(done);
}

/// In a forked child: whether Python's locks may be held by a thread that does not exist in this process.
/// Only the holder of the GIL knows that they are not: another thread may have been acquiring or releasing
/// the GIL.
bool is_gil_lost() noexcept {
  // Not PyGILState_Check, which returns 1 for every thread once a sub-interpreter has existed.
  PyThreadState* running = _PyThreadState_UncheckedGet();
  return running == nullptr || running != PyGILState_GetThisThreadState();
}

void reset_interpreter_after_fork() {
  if (is_gil_lost()) {
    PythonState running = PythonState::kRunning;
    python_state.compare_exchange_strong(running, PythonState::kForked);
    leak_pending_releases();
    return;
  }
  drop_other_thread_states();
  reset_worker_after_fork();
}

/// Completes the start. The caller holds the GIL.
void finish_start() {
  if (!add_helpers_to_path()) {
    fail_start("Python start: sys.path is not usable: " + take_python_error().message);
    return;
  }
  if (const std::string reason = torch_mismatch(); !reason.empty()) {
    fail_start(reason);
    return;
  }
  if (!add_core_module()) {
    fail_start("Python start: cannot create the module simple_torch._core: " + take_python_error().message);
    return;
  }
  if (owns_interpreter) {
    use_line_buffering();
    install_warning_format();
    if (!watch_streams()) {
      PyErr_Clear();  // the program keeps its own output
    }
    if (!install_interrupts()) {
      PyErr_Clear();  // without the signal module, SIGINT keeps its previous handler
    }
    register_exit_handler_last();
  } else if (!close_with_python()) {
    fail_start(take_python_error().message);
    return;
  }
  pthread_atfork(nullptr, nullptr, reset_interpreter_after_fork);
  python_state.store(PythonState::kRunning, std::memory_order_release);
}

constexpr const char* kInSubinterpreter =
    "simple_torch supports the main interpreter only, not a subinterpreter";

/// Whether the calling thread runs a subinterpreter. PyGILState functions support the main one only.
bool runs_in_subinterpreter() noexcept {
  PyThreadState* running = _PyThreadState_UncheckedGet();
  return running != nullptr && PyThreadState_GetInterpreter(running) != PyInterpreterState_Main();
}

/// In a child that was forked while another thread was starting Python: it cannot be used.
void abandon_start() {
  PythonState expected = PythonState::kNotStarted;
  python_state.compare_exchange_strong(expected, PythonState::kForked);
}

;

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
  const ForkWatch<abandon_start> watch;
  const std::lock_guard lock(start_mutex);
  if (python_state.load() != PythonState::kNotStarted) {
    return;
  }
  ignore_broken_pipes();
  remember_program_handler();
  std::string error;
  if (!initialize(services().environment->python, error)) {
    fail_start(std::string(services().environment->python) + ": Python initialization failed: " + error);
    return;
  }
  adopt_starting_thread();
  // The thread that first imports threading becomes its main thread.
  const Ref threading(PyImport_ImportModule("threading"));
  PyErr_Clear();
  finish_start();
  PyEval_SaveThread();
}

/// Calls a function and prints its exception, as Python does at finalization.
void call_at_exit(const char* module, const char* function) {
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
    PyErr_Clear();  // closed pipe
  }
}

/// While one lives, SIGINT interrupts what Python's exit work waits for.
class InterruptibleScope {
 public:
  InterruptibleScope()
      : thread_(this_python_thread()), is_inside_(thread_ == nullptr || thread_->inside != 0) {
    if (!is_inside_) {
      entering_python(*thread_);
    }
  }
  ~InterruptibleScope() {
    if (!is_inside_ && leaving_python(*thread_)) {
      PyErr_Clear();
    }
  }
  InterruptibleScope(const InterruptibleScope&) = delete;
  InterruptibleScope& operator=(const InterruptibleScope&) = delete;

 private:
  PythonThread* thread_;
  bool is_inside_;
};

void run_exit_work() {
  static bool has_started = false;  // guarded by the GIL
  if (std::exchange(has_started, true)) {
    return;
  }
  drop_all_exceptions();
  drain_pending_releases();
  const InterruptibleScope interruptible;
  call_at_exit("simple_torch_helpers.shutdown", "finish_threads");
  call_at_exit("atexit", "_run_exitfuncs");
  call_at_exit("simple_torch_helpers.shutdown", "finish_files");
  flush_stream("stdout");
  flush_stream("stderr");
  drain_and_close();
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

void detect_running_python() noexcept { owns_interpreter = Py_IsInitialized() == 0; }

bool is_python_process() noexcept { return !owns_interpreter; }

int32_t start_python() noexcept {
  try {
    if (python_state.load(std::memory_order_acquire) == PythonState::kNotStarted) {
      // In a Python process the GIL is the lock: a mutex could invert the lock order.
      if (owns_interpreter) {
        start_new();
      } else {
        attach();
      }
    }
    // Python code may have removed the module from sys.modules, to import the package again.
    return in_python([] { return has_core_module() || add_core_module(); });
  } catch (...) {
    return report(to_failure(std::current_exception()));
  }
}

const char* unavailable_reason() noexcept {
  switch (python_state.load(std::memory_order_acquire)) {
    case PythonState::kRunning:
      break;
    case PythonState::kNotStarted:
      return runs_in_subinterpreter() ? kInSubinterpreter : "Python is not started";
    case PythonState::kStartFailed:
      return start_error->c_str();
    case PythonState::kForked:
      return "cannot call Python: this process was forked by a thread that did not hold the GIL; use "
             "Python's os.fork or multiprocessing, or call Python only in the parent process";
    case PythonState::kClosed:
      return "Python was shut down and cannot be started again in this process";
  }
  if (runs_in_subinterpreter()) {
    return kInSubinterpreter;
  }
  return can_thread_enter() ? nullptr : "cannot call Python: this thread is ending";
}

int32_t shut_python_down() noexcept {
  if (!python_is_started()) {
    close_bridge();
    return 0;
  }
  const PyGILState_STATE held = PyGILState_Ensure();
  if (owns_interpreter) {
    run_exit_work();
  } else {
    drain_and_close();
  }
  PyGILState_Release(held);
  return 0;
}

void register_exit_handler_last() noexcept {
  static unsigned long long last_count = 0;  // guarded by the GIL
  const unsigned long long count = loaded_libraries();
  if (owns_interpreter && count != last_count) {
    last_count = count;
    on_exit(at_exit, nullptr);
  }
}

void register_exit_handler_again() noexcept {
  if (owns_interpreter) {
    on_exit(at_exit, nullptr);
  }
}

bool import_torch() {
  const Ref torch(PyImport_ImportModule("torch"));
  register_exit_handler_last();
  return static_cast<bool>(torch);
}

}  // namespace simple_torch::bridge
