#include "bridge/runtime/signal_module.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {
namespace {

using Handler = void (*)(int);

void (*after_sigint_handler)() = nullptr;
bool (*postpone_interrupt)() = nullptr;
std::atomic<void (*)()> signal_request{nullptr};
std::array<std::atomic<Handler>, NSIG> python_handlers{};  // CPython's C handler, once ours is before it

/// SIG_DFL and SIG_IGN stay: Python code has set them.
bool is_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

void on_python_signal(int signal) {
  const int saved_errno = errno;
  python_handlers[static_cast<size_t>(signal)].load()(signal);
  request_signal_check();
  errno = saved_errno;
}

void install_before_python(int signal) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) != 0 || !is_handler(action) ||
      action.sa_handler == on_python_signal) {
    return;
  }
  python_handlers[static_cast<size_t>(signal)] = action.sa_handler;
  action.sa_handler = on_python_signal;
  sigaction(signal, &action, nullptr);
}

/// SIGINT has an owner: the interrupt service.
void follow_sigint() {
  struct sigaction action {};
  if (after_sigint_handler != nullptr && sigaction(SIGINT, nullptr, &action) == 0 && is_handler(action)) {
    after_sigint_handler();
  }
}

PyObject* call_signal(PyObject* original, PyObject* arguments) {
  Ref result(PyObject_Call(original, arguments, nullptr));
  const int signal = result ? static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(arguments, 0))) : 0;
  if (signal == SIGINT) {
    follow_sigint();
  } else if (signal > 0) {
    install_before_python(signal);
  }
  return result.release();
}

PyObject* call_interrupt_main(PyObject* original, PyObject* arguments) {
  Ref result(PyObject_Call(original, arguments, nullptr));
  if (result) {
    request_signal_check();
  }
  return result.release();
}

PyObject* call_default_int_handler(PyObject* original, PyObject* arguments) {
  if (postpone_interrupt()) {
    Py_RETURN_NONE;
  }
  return PyObject_Call(original, arguments, nullptr);
}

/// Replaces a function of a built-in module by a method whose self is the function.
bool replace(const char* module_name, PyMethodDef& method) {
  const Ref module(PyImport_ImportModule(module_name));
  const Ref original(module ? PyObject_GetAttrString(module.get(), method.ml_name) : nullptr);
  const Ref replacement(original ? PyCFunction_New(&method, original.get()) : nullptr);
  return replacement && PyObject_SetAttrString(module.get(), method.ml_name, replacement.get()) == 0;
}

/// Handlers that Python code installed before. False with an exception set.
bool precede_installed_handlers() {
  const Ref module(PyImport_ImportModule("_signal"));
  for (int signal = 1; module && signal < NSIG; ++signal) {
    const Ref handler(PyObject_CallMethod(module.get(), "getsignal", "i", signal));
    if (handler && PyCallable_Check(handler.get()) != 0 && signal != SIGINT) {
      install_before_python(signal);
    }
    if (!handler && PyErr_ExceptionMatches(PyExc_ValueError) != 0) {
      PyErr_Clear();  // a number that is reserved
    }
  }
  return PyErr_Occurred() == nullptr;
}

}  // namespace

bool use_default_int_handler(bool (*postpone)()) {
  static PyMethodDef method{"default_int_handler", call_default_int_handler, METH_VARARGS,
                            "As Python's; raises KeyboardInterrupt, after importlib if that runs."};
  postpone_interrupt = postpone;
  if (!replace("_signal", method)) {
    return false;
  }
  const Ref module(PyImport_ImportModule("_signal"));
  const Ref handler(module ? PyObject_GetAttrString(module.get(), "default_int_handler") : nullptr);
  // The module `signal` copies the functions of `_signal` when it is imported.
  PyObject* const copies = PyImport_GetModuleDict();
  PyObject* const copy = copies == nullptr ? nullptr : PyDict_GetItemString(copies, "signal");
  if (handler && copy != nullptr && PyObject_SetAttrString(copy, "default_int_handler", handler.get()) != 0) {
    return false;
  }
  const Ref old(handler ? PyObject_CallMethod(module.get(), "signal", "iO", SIGINT, handler.get()) : nullptr);
  return static_cast<bool>(old);
}

void call_after_sigint_handlers(void (*reclaim)()) noexcept { after_sigint_handler = reclaim; }

bool report_python_signals() {
  static PyMethodDef signal{"signal", call_signal, METH_VARARGS,
                            "As Python's signal.signal; the signal also reaches a program that runs Simple."};
  static PyMethodDef interrupt_main{"interrupt_main", call_interrupt_main, METH_VARARGS,
                                    "As Python's; also stops Simple code on the main thread."};
  static bool is_reporting = false;  // guarded by the GIL
  if (!is_reporting) {
    is_reporting =
        replace("_signal", signal) && replace("_thread", interrupt_main) && precede_installed_handlers();
  }
  return is_reporting;
}

void set_signal_request(void (*request)()) noexcept { signal_request = request; }

void request_signal_check() noexcept {
  if (void (*request)() = signal_request.load()) {
    request();
  }
}

}  // namespace simple_torch::bridge
