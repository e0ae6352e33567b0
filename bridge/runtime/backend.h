// What the backend gave to this bridge.
#pragma once

#include "bridge/bridge_api.h"

namespace simple_torch::bridge {

/// Set once, before anything else runs.
void set_backend_services(const BackendServices* services) noexcept;
const BackendServices& backend_services() noexcept;

}  // namespace simple_torch::bridge
