// Simple functions as Python callables, and Simple errors as Python exceptions.
#pragma once

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// The Simple function or object for which the Python object stands; NULL for other objects. Needs the GIL,
/// and a reference that the caller holds.
const SimpleFunction* simple_function_in(PyObject* object) noexcept;

/// Fills in the entries of `api` for Simple functions.
void add_simple_function_entries(BridgeApi& api) noexcept;

}  // namespace simple_torch::bridge
