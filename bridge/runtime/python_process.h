// Interrupts in a Python process that runs Simple code: SIGINT is Python's, except while Python's main thread
// waits for a Simple function.
#pragma once

namespace simple_torch::bridge {

/// From now on SIGINT calls `interrupt` while Python's main thread waits for a Simple function, and Python's
/// handler otherwise. NULL ends that. Needs the GIL; false with an exception set.
bool attach_program(void (*interrupt)());

/// Around a Simple function that Python calls. Pass the result of `entering_program` to `leaving_program`.
/// Both need the GIL.
bool entering_program() noexcept;
void leaving_program(bool was_running) noexcept;

/// Whether attach_program() was called and this is Python's main thread.
bool is_main_of_python_process() noexcept;

/// For the signal handler.
bool is_program_attached() noexcept;
bool is_program_running() noexcept;
void interrupt_program() noexcept;

}  // namespace simple_torch::bridge
