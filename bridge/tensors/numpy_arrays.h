// Imports NumPy arrays by their C struct.
#pragma once

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Imports the array as a CPU tensor without a copy: an at::Tensor when writable, else a READ_ONLY DLPack
/// tensor. The array is released later, under the GIL, whichever thread destroys the tensor. False, without
/// an exception, for anything but an exact numpy.ndarray, and for a dtype, byte order or layout that DLPack
/// lacks; its `__dlpack__` then raises the error. The caller holds the GIL.
bool import_numpy_array(PyObject* object, TensorResult& out) noexcept;

}  // namespace simple_torch::bridge
