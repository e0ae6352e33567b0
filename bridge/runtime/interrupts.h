// SIGINT while Python runs: KeyboardInterrupt in the threads that are inside Python.
//
// The process's interrupt service owns SIGINT: the host's, or default_interrupt_service.h. This file is its
// client: it knows which threads are inside Python and delivers interrupts to them.
// abi/interrupt_transitions.h has the states and the transition table.
#pragma once

#include <pthread.h>

#include "bridge/runtime/gil.h"
#include "simple_torch/spl_runtime.h"

namespace simple_torch::bridge {

/// Becomes the client of the interrupt service, in a process whose Python we started. Call it on the starting
/// thread, under the GIL, after initialization. False with an exception set on failure.
bool install_interrupts();

/// Around the outermost call into Python on a thread. `leaving_python` returns true when an interrupt arrived
/// during the call and has not been raised as KeyboardInterrupt. The call then counts as interrupted, no
/// request is left for a later call, and the caller drops an exception that is set. Both need the GIL.
void entering_python(PythonThread& thread) noexcept;
bool leaving_python(PythonThread& thread) noexcept;

/// In place of `leaving_python` on a thread that ends inside Python. Has no effect after it.
void abandon_python(PythonThread& thread) noexcept;

/// The number of interrupts that arrived for the thread while it was inside Python. Needs the GIL.
unsigned interrupt_count(const PythonThread& thread) noexcept;

/// Requests an interrupt again that `leaving_python` has returned where nothing can be raised, such as in a
/// destructor: it interrupts the calling Python code. Called inside Python, under the GIL.
void rearm_interrupt(PythonThread& thread) noexcept;

/// The client of the interrupt service.
const SplInterruptClient& interrupt_client() noexcept;

/// For the default service: counts an interrupt that Python's own handler receives. Async-signal-safe.
void count_main_interrupt() noexcept;

/// For a Python process: the thread whose signals Python handles.
void set_python_main(pthread_t thread) noexcept;
bool is_python_main() noexcept;

}  // namespace simple_torch::bridge
