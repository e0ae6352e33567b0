// The process's Python interpreter: started or attached to, never finalized by us.
#pragma once

#include <cstdint>

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Called once, before any other function: decides whether we start Python or attach to it.
void detect_running_python() noexcept;

/// Starts the environment's Python, or attaches to the running one. Returns 0, or the kind of the recorded
/// error. Later calls return the same result and change nothing.
int32_t start_python() noexcept;

/// Why this thread cannot call Python, or NULL when it can.
const char* unavailable_reason() noexcept;

/// Whether Python already ran when the bridge was opened.
bool is_python_process() noexcept;

/// Runs Python's exit work, as exit() does: joins threads, runs exit functions, flushes streams. Afterwards
/// every call fails and dropped references are leaked. The interpreter is not finalized, because tensors that
/// Python owns may outlive this. In a Python process, which finalizes itself, it only closes the bridge.
int32_t shut_python_down() noexcept;

/// Registers the exit work with exit() again when libraries were loaded since. Handlers that those libraries
/// registered must run after Python's exit functions, as in a Python process. The caller holds the GIL.
void register_exit_handler_last() noexcept;

/// Registers it again after another thread, such as the decref worker, ran Python: static objects created
/// there must be destroyed after that thread has ended.
void register_exit_handler_again() noexcept;

/// Imports the module named torch. False with an exception set on failure. The caller holds the GIL.
bool import_torch();

}  // namespace simple_torch::bridge
