// thread.spawn and join; async functions and await.
#pragma once

#include <vector>

#include "host/values/objects.h"

namespace spl {

/// The namespace `thread` and the methods of what spawn() gives.
void install_thread_methods();
/// At the program's end: the failures of threads that nobody has joined.
void tell_unseen_failures();

/// exit() ends the program, whichever thread calls it; in another program's process this returns.
void end_own_program(int code);

/// In a process that was just forked: none of them is in it, and whoever waits for one is told so.
void forget_other_threads();

/// Begins an async function whose parameters are bound; `values` are owned. Owned.
Value start_future(Closure* closure, std::vector<Value> values);
/// The value of a future once it is there, or its failure; of anything else the value itself. Owned.
Value awaited(Value value);
/// Whether a thread handle is a future.
bool is_future(Value v);

}  // namespace spl
