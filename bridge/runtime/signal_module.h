// Python's signal module: its handlers also reach a program that runs Simple.
#pragma once

namespace simple_torch::bridge {

/// Sets signal.default_int_handler for SIGINT. Without a handler that Python installed itself,
/// PyErr_SetInterruptEx does nothing. The handler raises KeyboardInterrupt unless `postpone`, which is called
/// first, returns true. False with an exception set.
bool use_default_int_handler(bool (*postpone)());

/// Calls `reclaim` whenever Python code has installed a handler for SIGINT, as asyncio.run does. CPython then
/// installs its C handler over ours, and no interrupt would reach Simple. Needs `report_python_signals`.
void call_after_sigint_handlers(void (*reclaim)()) noexcept;

/// From now on each signal with a handler in Python, and `_thread.interrupt_main`, calls the function of
/// `set_signal_request`. False with an exception set.
///
/// `_signal.signal` and `_thread.interrupt_main` are replaced for this: CPython has no hook for them. A check
/// at each call into Python would need a system call each time.
bool report_python_signals();

/// `request` asks the program to let Python handle signals soon; NULL for none. It is async-signal-safe.
void set_signal_request(void (*request)()) noexcept;
void request_signal_check() noexcept;

}  // namespace simple_torch::bridge
