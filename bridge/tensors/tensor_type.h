// simple_torch.Tensor: the library's tensor type in Python, without torch's Python classes.
#pragma once

#include <ATen/core/Tensor.h>

#include "bridge/runtime/backend.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// A new simple_torch.Tensor, or NULL with an exception set. All functions here need the GIL.
PyObject* wrap_tensor(at::Tensor tensor);

/// The tensor of a simple_torch.Tensor, or NULL for other objects. It is undefined after into_dlpack().
const at::Tensor* unwrap_tensor(PyObject* object) noexcept;

/// False with a ValueError set for a tensor that into_dlpack() moved.
bool check_not_moved(const at::Tensor& tensor);

/// Raises the backend's message as a BufferError. An exception that Python code below LibTorch has set
/// becomes its cause; KeyboardInterrupt, SystemExit and other non-Exceptions are kept unchanged.
void raise_buffer_error(const ServiceError& error);

/// Creates the module simple_torch._core with the type and from_dlpack(). False with an exception set.
bool add_core_module();
/// Whether sys.modules has it. The caller holds the GIL.
bool has_core_module();

}  // namespace simple_torch::bridge
