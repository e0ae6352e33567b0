// CUDA streams (HIP streams in ROCm builds): the current stream, and ordering between streams.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/dlpack.h>

#include <cstdint>
#include <optional>

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// The DLPack device of the tensor. Torch names ROCm devices cuda; DLPack has its own device type for them.
DLDevice dlpack_device_of(const at::Tensor& tensor);
DLDevice dlpack_number_of(c10::Device device);  // no index means 0

/// Torch's current stream on that CUDA device as the `stream` argument of `__dlpack__`. A new reference, or
/// NULL with a BufferError set.
PyObject* current_stream(int device);

/// The driver's handle of that stream. False with a BufferError set.
bool find_current_stream(int device, void** out);

/// Reads the `stream` argument of `__dlpack__`: an int, or None, which leaves `number` empty. May run Python
/// code. False with an exception set.
bool read_stream(PyObject* stream, std::optional<int64_t>& number);

/// Makes the consumer's stream wait for the work queued on the current stream of the tensor's device. Uses an
/// event; neither this thread nor the device blocks. Runs no Python code. False with a BufferError set.
bool order_before(const at::Tensor& tensor, std::optional<int64_t> stream);

}  // namespace simple_torch::bridge
