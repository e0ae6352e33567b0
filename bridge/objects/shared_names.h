// The variables that sessions of the program share with Python dicts, by name.
//
// Each side has its own store: the dict, and the session's slots. When control crosses from one language to
// the other, and only if one side changed a variable since, Python code copies the changes
// (simple_torch/session.py).
#pragma once

#include <atomic>

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Whether any session is open.
extern std::atomic<bool> shares_names;

/// The program changed a variable of a session. Any thread, without the GIL.
void note_program_change() noexcept;

/// Copies the changes of both sides. Keeps the current exception. The caller holds the GIL.
void synchronize_names() noexcept;

/// Calls synchronize_names() if there is a session.
inline void synchronize_shared_names() noexcept {
  if (shares_names.load(std::memory_order_relaxed)) [[unlikely]] {
    synchronize_names();
  }
}

/// Adds share_names(), stop_sharing_names() and the address of note_program_change() to `simple_torch._core`.
/// False with an exception set.
bool add_sharing_functions(PyObject* module);

}  // namespace simple_torch::bridge
