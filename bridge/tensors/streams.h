// Streams of CUDA devices (of ROCm's in torch built for these): which is current, and which waits for which.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/dlpack.h>

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Where the tensor's memory is, by DLPack's numbers: torch calls ROCm's devices cuda, and DLPack does not.
DLDevice device_of(const at::Tensor& tensor);
DLDevice dlpack_number_of(c10::Device device);  // one without an index is the first

/// Torch's current stream on that CUDA device, for `stream` of `__dlpack__`. A new reference, or NULL with a
/// BufferError pending.
PyObject* current_stream(int device);

/// The driver's handle of it. False with a BufferError pending.
bool find_current_stream(int device, void** out);

/// Makes the consumer's stream (an int by the protocol's numbers, or None) wait for what was begun on the
/// tensor's current stream: by an event, so that neither this thread nor the device waits. False with a
/// BufferError pending.
bool order_before(const at::Tensor& tensor, PyObject* stream);

}  // namespace simple_torch::bridge
