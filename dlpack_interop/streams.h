// The numbers by which consumers name their streams.
#pragma once

#include <ATen/dlpack.h>

#include <cstdint>
#include <optional>

namespace simple_torch::dlpack {

/// On which stream a consumer will use memory.
struct WantedStream {
  const char* refusal = nullptr;  // the number is none of the device's; nothing else counts then
  bool is_ordered = false;        // the producer sees to the order; else there is none, or the consumer does
  int64_t handle = 0;  // of the driver; CUDA's 1 and 2 are its own names for the two default streams
};

/// By the array API's rules for `stream` of `__dlpack__`; without a number None was given.
inline WantedStream wanted_stream(DLDeviceType device, std::optional<int64_t> number) noexcept {
  constexpr int64_t kNoOrder = -1;
  if (device == kDLCPU || device == kDLCUDAHost || device == kDLROCMHost) {
    return {number ? "the CPU has none; leave it away" : nullptr};
  }
  if (number == kNoOrder) {
    return {};
  }
  if (device == kDLROCM) {
    const int64_t handle = number.value_or(0);
    return {handle < 0 || handle == 1 || handle == 2
                ? "of ROCm they are -1 (no order), 0 (the default), and handles above 2"
                : nullptr,
            true, handle};
  }
  const int64_t handle = number.value_or(1);
  return {handle <= 0 ? "of CUDA they are -1 (no order), 1 (the legacy default), 2 (each thread's), and "
                        "handles above 2"
                      : nullptr,
          true, handle};
}

}  // namespace simple_torch::dlpack
