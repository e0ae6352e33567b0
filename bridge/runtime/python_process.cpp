#include "bridge/runtime/python_process.h"

#include <pthread.h>

#include <atomic>
#include <csignal>

#include "bridge/runtime/default_interrupt_service.h"
#include "bridge/runtime/interrupts.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {
namespace {

std::atomic<void (*)()> program_interrupt{nullptr};
std::atomic<bool> is_running{false};  // Python's main thread runs Simple
PyObject* get_handler = nullptr;      // _signal.getsignal and _signal.default_int_handler; never freed
PyObject* default_handler = nullptr;

/// Python code may have installed a handler of its own, which then runs while Simple runs.
[[gnu::noinline]] bool raises_keyboard_interrupt() noexcept {
  const PendingException pending;
  const Ref number(PyLong_FromLong(SIGINT));
  const Ref current(number ? PyObject_CallOneArg(get_handler, number.get()) : nullptr);
  PyErr_Clear();
  return current && current.get() == default_handler;
}

}  // namespace

bool attach_program(void (*interrupt)()) {
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
  set_python_main(static_cast<pthread_t>(PyLong_AsUnsignedLong(ident.get())));
  program_interrupt = interrupt;
  return PyErr_Occurred() == nullptr;
}

void entering_program() noexcept {
  if (is_main_of_python_process()) {
    install_before_python_handler(interrupt_client());
    is_running = raises_keyboard_interrupt();
  }
}

void leaving_program() noexcept {
  if (is_main_of_python_process()) {
    is_running = false;
  }
}

bool pause_program() noexcept { return is_main_of_python_process() && is_running.exchange(false); }

void resume_program(bool was_running) noexcept {
  if (was_running) {
    is_running = raises_keyboard_interrupt();
  }
}

bool is_main_of_python_process() noexcept { return program_interrupt != nullptr && is_python_main(); }

bool is_program_attached() noexcept { return program_interrupt != nullptr; }

bool is_program_running() noexcept { return is_running; }

void interrupt_program() noexcept {
  if (void (*interrupt)() = program_interrupt.load()) {
    interrupt();
  }
}

}  // namespace simple_torch::bridge
