// NumPy's arrays, read from their C structure.
#pragma once

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// The array as a tensor on the CPU, without a copy: ready where it can be written, else a DLPack tensor that
/// is READ_ONLY. The array is let go under the GIL, later, whichever thread ends the tensor. False, with no
/// exception pending, for whatever is not exactly a numpy.ndarray, or one of another dtype, byte order or
/// layout than DLPack has: its `__dlpack__` says why. The caller holds the GIL.
bool take_numpy_array(PyObject* object, TensorResult& out) noexcept;

}  // namespace simple_torch::bridge
