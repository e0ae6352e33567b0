// The error record of each thread. It is in the front, so that a process without PyTorch has one, too.
#pragma once

#include <string>

#include "abi/front_backend.h"
#include "core_libtorch/error.h"

namespace simple_torch::abi {

/// Replaces the thread's record. The backend calls it through FrontServices.
void record_error(const ErrorData* error);

/// The same for errors of the front itself. Returns the kind's number.
int32_t record_error(ErrorKind kind, const std::string& message) noexcept;

/// A malloc'ed copy, for out parameters of kind text. NULL if memory is exhausted.
char* copy_of(const std::string& text) noexcept;

}  // namespace simple_torch::abi
