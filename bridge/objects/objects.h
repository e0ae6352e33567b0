// The BridgeApi functions on Python objects.
#pragma once

#include "bridge/bridge_api.h"

namespace simple_torch::bridge {

/// Fills in the entries of `api` for objects, calls and containers.
void add_object_functions(BridgeApi& api) noexcept;

/// Fills in the entries of `api` for values, strings, evaluation and tensors.
void add_value_functions(BridgeApi& api) noexcept;

}  // namespace simple_torch::bridge
