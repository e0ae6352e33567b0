// What a function of the program that LibTorch calls back says of its failure.
#pragma once

#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::core {

/// Kept for this thread until the function that is failing has returned.
void note_callback_failure(Error failure);

/// Throws what this thread noted, or that `who` failed without a word. Called after a function of the program
/// has failed.
[[noreturn]] void throw_callback_failure(const std::string& who);

}  // namespace simple_torch::core
