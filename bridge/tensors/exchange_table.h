// Finds the DLPack C exchange table of a Python type: DLPack without a capsule.
#pragma once

#include <ATen/dlpack.h>

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// The table of the type's `__dlpack_c_exchange_api__`, or an older table that it links to, of a supported
/// major version; NULL when there is none. Cached per type. No exception is set afterwards. The caller holds
/// the GIL.
const DLPackExchangeAPI* exchange_table_of(PyTypeObject* type);

}  // namespace simple_torch::bridge
