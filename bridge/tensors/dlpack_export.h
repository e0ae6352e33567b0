// The DLPack methods of simple_torch.Tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

// Reading an argument may run Python code, and that code may move the tensor out of its object. So the
// functions read all arguments before they look at the tensor, and copy or move it before Python code can run
// again. They raise ValueError for a moved tensor.

/// `__dlpack__(*, stream, max_version, dl_device, copy)` with arguments in vectorcall layout. Returns a
/// capsule, or NULL with an exception set. The caller holds the GIL.
PyObject* export_to_python(const at::Tensor& tensor, PyObject* const* values, Py_ssize_t count,
                           PyObject* names);

/// `into_dlpack(*, stream)`: moves the tensor into a capsule and leaves it undefined. NULL with an exception
/// set on failure; the tensor is then unchanged.
PyObject* move_to_python(at::Tensor& tensor, PyObject* stream);

/// `__dlpack_device__()`: the DLPack device type and index.
PyObject* device_for_python(const at::Tensor& tensor);

}  // namespace simple_torch::bridge
