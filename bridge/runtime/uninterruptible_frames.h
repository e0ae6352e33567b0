// Code of Python where an asynchronous exception would leave a lock held, or would be ignored.
#pragma once

#include "bridge/runtime/gil.h"

namespace simple_torch::bridge {

/// Whether the innermost frame of the thread takes and releases locks by calls, as importlib, threading and
/// logging do: an exception between the call and its `try` leaves the lock held for good. Also whether the
/// thread runs a finalizer. Needs the GIL.
bool is_in_uninterruptible_frame(const PythonThread& thread) noexcept;

/// What a thread does: importlib works, itself or by a finder that it calls, or the body of a module runs, or
/// a finalizer, whose exceptions Python ignores: `__del__` or a callback of weak references or of the
/// collector.
enum class PythonStep { kOther, kModuleBody, kImportlib, kFinalizer };

/// Needs the GIL.
PythonStep python_step(const PythonThread& thread) noexcept;

}  // namespace simple_torch::bridge
