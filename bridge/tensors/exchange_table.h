// The C table by which a Python type hands its tensors out: DLPack without a capsule.
#pragma once

#include <ATen/dlpack.h>

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// The table that the type names in `__dlpack_c_exchange_api__`, of a major version that is understood here,
/// or an older one that it points to; NULL where there is none that can be used. Found once per type and
/// kept. No exception is pending afterwards. The caller holds the GIL.
const DLPackExchangeAPI* exchange_table_of(PyTypeObject* type);

}  // namespace simple_torch::bridge
