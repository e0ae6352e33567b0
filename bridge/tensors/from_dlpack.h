// simple_torch.from_dlpack() in Python.
#pragma once

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// from_dlpack(x, *, device=None, copy=None), a METH_FASTCALL | METH_KEYWORDS function. Returns a
/// simple_torch.Tensor, or NULL with an exception set.
PyObject* from_dlpack(PyObject* module, PyObject* const* values, Py_ssize_t count, PyObject* names);

}  // namespace simple_torch::bridge
