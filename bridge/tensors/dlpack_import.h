// How the tensor of a foreign Python object comes in by DLPack.
#pragma once

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Takes the tensor of any object but a torch.Tensor, by the first way that the object offers: NumPy's own
/// structure, its type's C table, the buffer of an immutable array, `__dlpack__` of DLPack 1, `__dlpack__` of
/// before, the buffer protocol. A capsule is used up. False with an
/// exception pending when there is none, or the object refuses. The caller holds the GIL.
bool take_foreign_tensor(PyObject* object, const Wanted& wanted, TensorResult& out);

}  // namespace simple_torch::bridge
