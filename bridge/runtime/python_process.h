// Interrupts in a Python process that runs Simple code: SIGINT is Python's, except while Python's main thread
// waits for a Simple function.
#pragma once

namespace simple_torch::bridge {

/// From now on SIGINT calls `interrupt` while Python's main thread waits for a Simple function, and Python's
/// handler otherwise. NULL ends that. Needs the GIL; false with an exception set.
bool attach_program(void (*interrupt)());

/// Around a Simple function that Python calls. Both need the GIL.
void entering_program() noexcept;
void leaving_program() noexcept;

/// Around a call of Python from Simple: Python's handler receives SIGINT meanwhile. Pass the result of
/// `pause_program` to `resume_program`. Both need the GIL.
bool pause_program() noexcept;
void resume_program(bool was_running) noexcept;

/// Whether attach_program() was called and this is Python's main thread.
bool is_main_of_python_process() noexcept;

/// For the signal handler.
bool is_program_attached() noexcept;
bool is_program_running() noexcept;
void interrupt_program() noexcept;

}  // namespace simple_torch::bridge
