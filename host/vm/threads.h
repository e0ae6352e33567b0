// thread.spawn and join; async functions and await.
#pragma once

#include <vector>

#include "host/values/objects.h"

namespace spl {

/// Adds the namespace `thread` and the methods of thread handles.
void install_thread_methods();
/// Reports the errors of threads that were not joined. Call it at exit.
void report_unseen_failures();

/// Ends the process for exit(), on any thread. Returns if the host is embedded.
void end_own_program(int code);

/// Call it in a forked process: other threads do not exist there, and a join of one raises an error.
void forget_other_threads();

/// Starts an async function. Takes ownership of `values`, its bound parameters; the future is owned. On an
/// event loop, a call that is awaited at once runs in the caller's coroutine, any other as a task of the
/// loop.
Value start_future(Closure* closure, std::vector<Value> values, bool is_awaited_at_once);
/// For the task of a future: runs its function; and ends a future whose task was cancelled before it ran.
void run_future_in_task(Value future);
void end_future_without_run(Value future);
/// Waits for a future and returns its result or raises its error; calls __await__() of an object that has it,
/// and returns any other value unchanged. Owned.
Value awaited(Value value);
/// Whether a thread handle is a future.
bool is_future(Value v);

}  // namespace spl
