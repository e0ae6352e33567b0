// Lists whose items are all of one class.
#pragma once

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Adds first_misfit(items, type, low, high) to `simple_torch._core`.
bool add_uniform_items_function(PyObject* module);

}  // namespace simple_torch::bridge
