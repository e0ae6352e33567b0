// The stream numbers of `__dlpack__(stream=...)`.
#pragma once

#include <ATen/dlpack.h>

#include <cstdint>
#include <optional>

namespace simple_torch::dlpack {

/// The stream on which a consumer will use the memory.
struct ConsumerStream {
  const char* error = nullptr;  // why the number is invalid for the device; the other fields are unset then
  bool is_ordered = false;      // the producer must order its work before the consumer's stream
  int64_t handle = 0;           // the driver's; 1 and 2 are CUDA's names of its two default streams
};

/// Applies the array API's rules for `stream` of `__dlpack__`. No number stands for None.
inline ConsumerStream consumer_stream(DLDeviceType device, std::optional<int64_t> number) noexcept {
  constexpr int64_t kNoOrder = -1;
  if (device == kDLCPU || device == kDLCUDAHost || device == kDLROCMHost) {
    return {number.value_or(kNoOrder) != kNoOrder ? "a CPU tensor has no stream; omit stream" : nullptr};
  }
  if (number == kNoOrder) {
    return {};
  }
  if (device == kDLROCM) {
    const int64_t handle = number.value_or(0);
    return {handle < 0 || handle == 1 || handle == 2
                ? "on ROCm it must be -1 (no order), 0 (the default) or a handle above 2"
                : nullptr,
            true, handle};
  }
  const int64_t handle = number.value_or(1);
  return {handle <= 0 ? "on CUDA it must be -1 (no order), 1 (legacy default), 2 (per-thread default) or "
                        "a handle above 2"
                      : nullptr,
          true, handle};
}

}  // namespace simple_torch::dlpack
