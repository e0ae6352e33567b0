// Streams and memory of CUDA devices through LibTorch's device-neutral interfaces, without CUDA headers.
#pragma once

#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <memory>

namespace simple_torch::core {

/// A stream of LibTorch's pool. Throws Error(kUnavailable) for a device that does not exist and for the CPU
/// (-1).
c10::Stream stream_from_pool(int64_t device);

/// The calling thread's current stream of the device, and its default stream. Errors as above.
c10::Stream current_stream(int64_t device);
c10::Stream default_stream(int64_t device);
void set_current_stream(const c10::Stream& stream);

/// The calling thread's current CUDA device; -1 without CUDA.
int64_t current_device();
/// Throw Error(kUnavailable) for a device that does not exist and for the CPU (-1).
void set_current_device(int64_t device);
void synchronize_device(int64_t device);

/// An event of CUDA. Throws Error(kUnavailable) without a device.
std::unique_ptr<c10::Event> new_event(bool enable_timing);

/// In bytes; 0 for a device that does not exist.
int64_t memory_allocated(int64_t device);
int64_t max_memory_allocated(int64_t device);

/// Returns cached memory to the device. Does nothing without CUDA.
void empty_cache();

}  // namespace simple_torch::core
