// Simple functions as C function pointers.
#pragma once

#include <memory>

#include "host/ffi/conversion.h"

namespace spl {

class Thread;

/// The address by which C calls `function`, on any thread. It stays valid, and the function alive, until
/// exit. The same function and signature always return the same address.
void* callback_of(Value function, const std::shared_ptr<Signature>& signature);

/// The first Thread of the current native thread, created at its first callback. `is_native` becomes true if
/// native code created the thread.
Thread& attached_thread(bool& is_native);

/// Whether a callback on this thread has failed. It returned zero; the error is raised again after the native
/// function returns.
inline bool& callback_failed() {
  static thread_local bool failed = false;
  return failed;
}
/// Raises the error of the failed callback.
[[noreturn]] void raise_callback_failure();

}  // namespace spl
