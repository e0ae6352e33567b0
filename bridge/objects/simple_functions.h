// Simple functions as Python callables, and Simple errors as Python exceptions.
#pragma once

#include "bridge/bridge_api.h"

namespace simple_torch::bridge {

/// Fills in the entries of `api` for Simple functions.
void add_simple_function_entries(BridgeApi& api) noexcept;

}  // namespace simple_torch::bridge
