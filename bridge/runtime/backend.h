// The services of the backend that opened this bridge.
#pragma once

#include "bridge/bridge_api.h"

namespace simple_torch::bridge {

/// Called once, before any other function.
void set_backend_services(const BackendServices* services) noexcept;
const BackendServices& backend_services() noexcept;

}  // namespace simple_torch::bridge
