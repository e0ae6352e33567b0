// Simple functions as C function pointers.
#pragma once

#include <memory>

#include "host/ffi/conversion.h"

namespace spl {

class Thread;

/// The address by which C calls `function`, on any thread. Native code may keep it: it stays valid, and the
/// function alive, as long as the program runs. The same function gives the same address.
void* callback_of(Value function, const std::shared_ptr<Signature>& signature);

/// This thread's registers; a thread that C made gets its own, for as long as it lives.
Thread& attached_thread(bool& is_of_c);

/// Whether a Simple function that the native code of this thread called has failed. It gave zero then; the
/// failure goes on when the native function has returned.
inline bool& callback_failed() {
  static thread_local bool failed = false;
  return failed;
}
[[noreturn]] void raise_callback_failure();

}  // namespace spl
