#include "bridge/runtime/signal_module.h"

#include <csignal>

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {
namespace {

void (*after_signal_call)() = nullptr;

/// SIG_DFL and SIG_IGN stay: Python code has set them.
bool is_handler_installed() {
  struct sigaction current {};
  return sigaction(SIGINT, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) == 0 &&
         current.sa_handler != SIG_DFL && current.sa_handler != SIG_IGN;
}

PyObject* signal_and_reclaim(PyObject* original, PyObject* arguments) {
  Ref result(PyObject_Call(original, arguments, nullptr));
  if (result && is_handler_installed()) {
    after_signal_call();
  }
  return result.release();
}

}  // namespace

bool use_default_int_handler() {
  const Ref module(PyImport_ImportModule("_signal"));
  const Ref handler(module ? PyObject_GetAttrString(module.get(), "default_int_handler") : nullptr);
  const Ref old(handler ? PyObject_CallMethod(module.get(), "signal", "iO", SIGINT, handler.get()) : nullptr);
  return static_cast<bool>(old);
}

bool reclaim_after_signal_calls(void (*reclaim)()) {
  static PyMethodDef method{"signal", signal_and_reclaim, METH_VARARGS,
                            "As Python's signal.signal; SIGINT still stops Simple, too."};
  after_signal_call = reclaim;
  const Ref module(PyImport_ImportModule("_signal"));
  const Ref original(module ? PyObject_GetAttrString(module.get(), "signal") : nullptr);
  const Ref replacement(original ? PyCFunction_New(&method, original.get()) : nullptr);
  return replacement && PyObject_SetAttrString(module.get(), "signal", replacement.get()) == 0;
}

}  // namespace simple_torch::bridge
