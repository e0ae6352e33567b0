// Queues of work and memory of CUDA devices, through LibTorch's device-neutral interfaces: no CUDA header is
// needed.
#pragma once

#include <c10/core/Stream.h>

#include <cstdint>

namespace simple_torch::core {

/// A stream of LibTorch's pool. Throws Error(kUnavailable) for a device that is not there; the CPU (-1) has
/// no streams.
c10::Stream stream_from_pool(int64_t device);

/// In bytes; 0 for a device that is not there.
int64_t memory_allocated(int64_t device);
int64_t max_memory_allocated(int64_t device);

/// Gives cached memory back to the device; nothing without CUDA.
void empty_cache();

}  // namespace simple_torch::core
