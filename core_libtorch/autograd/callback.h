// Failures of program functions that LibTorch calls back.
#pragma once

#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::core {

/// Records the failure for this thread until the failing function returns.
void record_callback_failure(Error failure);

/// Throws the recorded failure, or one for `who` without details. Called after a program function has failed.
[[noreturn]] void throw_callback_failure(const std::string& who);

}  // namespace simple_torch::core
