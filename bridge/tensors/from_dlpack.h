// simple_torch.from_dlpack() of Python.
#pragma once

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// from_dlpack(x, *, device=None, copy=None), called as METH_FASTCALL | METH_KEYWORDS: a simple_torch.Tensor,
/// or NULL with an exception pending.
PyObject* from_dlpack(PyObject* module, PyObject* const* values, Py_ssize_t count, PyObject* names);

}  // namespace simple_torch::bridge
