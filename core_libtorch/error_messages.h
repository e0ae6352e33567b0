// LibTorch's words as our errors where they come without its exceptions, through other languages.
#pragma once

#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::core {

/// The Error that core::explain() makes of LibTorch's exception with this message; its kind is kTorch where
/// the words are none that are known.
Error error_from_message(const std::string& message);

}  // namespace simple_torch::core
