// The DLPack C exchange table of simple_torch.Tensor.
#pragma once

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Creates the capsule for `__dlpack_c_exchange_api__`: DLPack's functions on simple_torch.Tensor objects. A
/// new reference, or NULL with an exception set.
PyObject* make_exchange_capsule();

}  // namespace simple_torch::bridge
