// The C exchange table of our own type.
#pragma once

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// The capsule for `__dlpack_c_exchange_api__`: DLPack's functions on objects of simple_torch.Tensor. A new
/// reference, or NULL with an exception pending.
PyObject* own_exchange_table();

}  // namespace simple_torch::bridge
