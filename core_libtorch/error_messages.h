// Converts LibTorch messages that arrive without its exceptions, through another language.
#pragma once

#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::core {

/// The Error that core::to_error() makes of a LibTorch exception with this message. Its kind is kTorch for an
/// unknown message.
Error error_from_message(const std::string& message);

}  // namespace simple_torch::core
