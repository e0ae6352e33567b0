// The methods of DLPack's protocol, of our own type.
#pragma once

#include <ATen/core/Tensor.h>

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// `__dlpack__(*, stream, max_version, dl_device, copy)`, its arguments in vectorcall's layout: a capsule, or
/// NULL with an exception pending. The caller holds the GIL.
PyObject* lend_to_python(const at::Tensor& tensor, PyObject* const* values, Py_ssize_t count,
                         PyObject* names);

/// `into_dlpack(*, stream)`: a capsule that the tensor goes into, which is undefined then; or NULL with an
/// exception pending, and the tensor stays where it was refused.
PyObject* give_to_python(at::Tensor& tensor, PyObject* stream);

/// `__dlpack_device__()`: device type and index, by DLPack's numbers.
PyObject* device_for_python(const at::Tensor& tensor);

}  // namespace simple_torch::bridge
