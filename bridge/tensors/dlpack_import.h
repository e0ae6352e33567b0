// Imports tensors of foreign Python objects by DLPack.
#pragma once

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Imports the tensor of any object except a torch.Tensor by the first protocol that the object supports:
/// NumPy's C struct, the C exchange table of its type, the buffer of an immutable array, `__dlpack__` of
/// DLPack 1, the earlier `__dlpack__`, the buffer protocol. A capsule is consumed. False with an exception
/// set when the object supports none or the import fails. The caller holds the GIL.
bool import_foreign_tensor(PyObject* object, const ImportOptions& wanted, TensorResult& out);

}  // namespace simple_torch::bridge
