// The interrupt service of a process without the host: a C program, or a Python process.
#pragma once

#include "simple_torch/spl_runtime.h"

namespace simple_torch::bridge {

/// A handler in front of the one that was installed before, which receives the signals that are not for
/// Python.
const SplInterruptService& default_interrupt_service() noexcept;

/// Remembers the handler of SIGINT that the program has, before Python starts: importing Python's signal
/// module replaces the default action.
void remember_program_handler() noexcept;

/// In a Python process: installs the handler in front of Python's own, which Python may have installed again
/// since. Leaves handlers of other code alone.
void install_before_python_handler(const SplInterruptClient& client) noexcept;

}  // namespace simple_torch::bridge
