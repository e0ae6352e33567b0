// `extern fn`: native functions found by name and called through libffi.
#pragma once

#include "host/compiler/extern.h"
#include "host/vm/machine_hooks.h"

namespace spl {

/// The address of the function, resolved at the first call; null for a function of the host itself. Fails if
/// no library has the function.
void* address_of(Extern& function);

/// Borrowed arguments, owned result. The native function runs without the host lock.
Value call_extern(Thread& thread, Extern& function, Value* args, int count);

/// Fills the entries of ffi/ in machine_hooks(), and adds the externs that call native code by address.
void install_native_calls();

}  // namespace spl
