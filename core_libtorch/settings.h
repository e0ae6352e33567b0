// LibTorch's process-wide settings, by name.
#pragma once

#include <cstdint>
#include <string>

namespace simple_torch::core {

/// 0 or 1. Throws Error(kInvalidArgument) for an unknown name.
int64_t setting(const std::string& name);
void set_setting(const std::string& name, bool value);

/// "highest", "high" or "medium". Throws Error(kInvalidArgument) for another word.
std::string float32_matmul_precision();
void set_float32_matmul_precision(const std::string& precision);

}  // namespace simple_torch::core
