// LibTorch's process-wide settings, by name.
#pragma once

#include <cstdint>
#include <string>

namespace simple_torch::core {

/// 0 or 1. Throws Error(kInvalidArgument) for an unknown name.
int64_t setting(const std::string& name);
void set_setting(const std::string& name, bool value);

}  // namespace simple_torch::core
