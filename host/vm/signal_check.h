// Signals that native code of the program handles on the first thread of the process, such as Python's.
#pragma once

#include "host/values/value.h"

namespace spl {

/// The function of the program that handles such signals. It is never released.
void set_signal_check(Value function);

/// Asks for a call of the function at the next safepoint of a user function on the first thread.
/// Async-signal-safe.
void request_signal_check();

/// Whether the calling thread is the first one and a call was requested.
bool is_signal_check_due();

/// Calls the function if it is due. An error of it is raised here.
void run_due_signal_check();

}  // namespace spl
