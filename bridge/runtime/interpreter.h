// The one Python interpreter of the process: started or attached to, never finalized by us.
#pragma once

#include <cstdint>

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Called once, before any other function: decides whether we will start Python or attach to it.
void note_whether_python_runs() noexcept;

/// Starts Python as the environment's own, or attaches to the one that runs; 0, or the kind of the recorded
/// error. Later calls give the same answer and change nothing.
int32_t start_python() noexcept;

/// Why Python cannot be called from this thread now, or NULL when it can.
const char* why_closed() noexcept;

/// Whether the process was Python before it opened us.
bool process_is_python() noexcept;

/// Does what Python does before it ends: joins its threads, runs its exit functions, flushes its streams;
/// exit() does it too. Afterwards every call is refused and references that are dropped are leaked. The
/// interpreter is not finalized: tensors that Python owns may outlive this. In a Python process, whose end
/// is Python's own matter, only later calls are refused.
int32_t shut_python_down() noexcept;

/// Registers that work with exit() again when libraries were loaded since: what they registered
/// must run after Python's exit functions, as it does in Python's own process. The caller holds the GIL.
void register_exit_handler_last() noexcept;

/// The same after work on another thread, which may have made static objects: they are to end after that
/// thread, which ends with Python.
void stay_first_after_other_threads() noexcept;

/// Imports torch once. False with an exception pending when that fails. The caller holds the GIL.
bool ensure_torch();

}  // namespace simple_torch::bridge
