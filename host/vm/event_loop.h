// Async functions in coroutines that an event loop of another language runs, such as Python's asyncio.
//
// Such a coroutine has a stack of its own (coroutine_stacks.h), so that a wait in any function that it calls
// suspends it, and only it. The language's library suspends it; it registers two functions for that.
#pragma once

#include "host/values/value.h"

namespace spl {

class Thread;

/// `start` receives a future and returns the task that will run it, or nil if no event loop is running.
/// `wait` receives a task, or nil for a thread, and its future, and suspends the coroutine until the future
/// has finished. Neither is ever released.
void set_event_loop_functions(Value start, Value wait);

/// Calls `body`; its waits suspend the coroutine if it has a stack of its own. The result is owned.
Value run_on_event_loop(Thread& thread, Value body);

/// The task that will run the future; nil if no event loop is running. Owned.
Value start_task(Thread& thread, Value future);
void suspend_until_finished(Thread& thread, Value task, Value future);

}  // namespace spl
