// simple_torch.Tensor: a tensor of ours as Python sees it, without torch's Python classes.
#pragma once

#include <ATen/core/Tensor.h>

#include "bridge/runtime/backend.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// A new object of that type, or NULL with an exception pending. All here need the GIL.
PyObject* wrap_tensor(at::Tensor tensor);

/// The tensor of an object of that type, or NULL for all others. One that into_dlpack() gave away is
/// undefined.
const at::Tensor* unwrap_tensor(PyObject* object) noexcept;

/// False with a ValueError pending for a tensor that was given away.
bool is_still_here(const at::Tensor& tensor);

/// Raises what the backend says as a BufferError. An exception that pends already, of Python code below
/// LibTorch, becomes its cause; KeyboardInterrupt, SystemExit and others that are no errors stay as they are.
void raise_refusal(const Refusal& refusal);

/// Makes the module simple_torch._core with the type and from_dlpack(). False with an exception pending.
bool add_core_module();

}  // namespace simple_torch::bridge
