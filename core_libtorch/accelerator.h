// Streams and memory of CUDA devices through LibTorch's device-neutral interfaces, without CUDA headers.
#pragma once

#include <c10/core/Stream.h>

#include <cstdint>

namespace simple_torch::core {

/// A stream of LibTorch's pool. Throws Error(kUnavailable) for a device that does not exist and for the CPU
/// (-1).
c10::Stream stream_from_pool(int64_t device);

/// In bytes; 0 for a device that does not exist.
int64_t memory_allocated(int64_t device);
int64_t max_memory_allocated(int64_t device);

/// Returns cached memory to the device. Does nothing without CUDA.
void empty_cache();

}  // namespace simple_torch::core
