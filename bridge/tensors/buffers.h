// Python's buffer protocol as DLPack: bytes, memoryview, array.array, and arrays whose __dlpack__ refuses.
#pragma once

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// The object's buffer as a DLPack tensor on the CPU, without a copy; READ_ONLY where the object cannot be
/// written. The buffer is let go under the GIL, later, whichever thread ends the tensor. False with a
/// BufferError pending that names what does not fit. The caller holds the GIL.
bool take_buffer(PyObject* object, TensorResult& out);

}  // namespace simple_torch::bridge
