// Python's signal module in a process whose Python we started.
#pragma once

namespace simple_torch::bridge {

/// Sets signal.default_int_handler for SIGINT. Without a handler that Python installed itself,
/// PyErr_SetInterruptEx does nothing. False with an exception set.
bool use_default_int_handler();

/// Calls `reclaim` whenever Python code has installed a handler for SIGINT. False with an exception set.
///
/// `_signal.signal` is replaced for this: CPython has no hook for it. asyncio.run, for example, sets a
/// handler and restores the previous one by `signal.signal`, which installs CPython's C handler over ours.
/// From then on no interrupt would reach Simple. A check at each call into Python would need a system call
/// each time.
bool reclaim_after_signal_calls(void (*reclaim)());

}  // namespace simple_torch::bridge
