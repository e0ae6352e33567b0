// Imports the buffer protocol as DLPack: bytes, memoryview, array.array, and arrays whose __dlpack__ fails.
#pragma once

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Exports the object's buffer as a DLPack tensor on the CPU, without a copy; READ_ONLY for a read-only
/// object. The buffer is released later, under the GIL, whichever thread destroys the tensor. False with a
/// BufferError set that names the unsupported property. The caller holds the GIL.
bool import_buffer(PyObject* object, TensorResult& out);

}  // namespace simple_torch::bridge
