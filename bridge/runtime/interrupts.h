// Ctrl-C while Python runs: KeyboardInterrupt in whichever threads are inside Python, and nothing left
// behind. A second one while a call has not ended since ends the program.
#pragma once

#include "bridge/runtime/gil.h"

namespace simple_torch::bridge {

/// Takes over SIGINT, in a process whose Python we started; call it on the starting thread, under the GIL,
/// after initialisation. What was there before gets the signals that arrive while no thread is in Python.
bool install_interrupts();

/// Around the outermost call of Python on a thread. `leaving` returns true when a Ctrl-C arrived during the
/// call and has not shown as KeyboardInterrupt yet: the call then counts as interrupted, and nothing of it
/// is left to land in a later one; an exception that still pends is to be dropped. Both need the GIL.
void entering_python(PythonThread& thread) noexcept;
bool leaving_python(PythonThread& thread) noexcept;

/// A number that grows when a Ctrl-C comes for the thread while it is inside, whatever becomes of it. Needs
/// the GIL.
unsigned presses_for(const PythonThread& thread) noexcept;

/// For a Ctrl-C that `leaving_python` has told of where nothing can be raised, as in a deletion: the code
/// round that is interrupted. Inside of Python, under the GIL.
void interrupt_again(PythonThread& thread) noexcept;

/// In a process whose Python runs us: Ctrl-C calls `interrupt` while Python's main thread waits for a
/// function of the program, and else whoever had it before. NULL ends that. Needs the GIL; false with an
/// exception pending.
bool watch_interrupts(void (*interrupt)());

/// Around a function of the program that Python calls. `entering` says what `leaving` is to be told. Both
/// need the GIL.
bool entering_program() noexcept;
void leaving_program(bool was_in_program) noexcept;

}  // namespace simple_torch::bridge
