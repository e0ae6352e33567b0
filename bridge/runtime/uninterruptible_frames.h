// Code of Python's library that an asynchronous exception would leave with a lock held.
#pragma once

#include "bridge/runtime/gil.h"

namespace simple_torch::bridge {

/// Whether the innermost frame of the thread takes and releases locks by calls, as importlib, threading and
/// logging do: an exception between the call and its `try` leaves the lock held for good. Needs the GIL.
bool is_in_uninterruptible_frame(const PythonThread& thread) noexcept;

/// What a thread does for an import: importlib works, itself or by a finder that it calls, or the body of the
/// module runs.
enum class ImportStep { kNone, kBody, kImportlib };

/// Needs the GIL.
ImportStep import_step(const PythonThread& thread) noexcept;

}  // namespace simple_torch::bridge
