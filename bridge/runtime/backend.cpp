// The services are stored once and live as long as the process.
#include "bridge/runtime/backend.h"

namespace simple_torch::bridge {
namespace {

const BackendServices* backend_services_pointer = nullptr;

}  // namespace

void set_backend_services(const BackendServices* services) noexcept { backend_services_pointer = services; }

const BackendServices& backend_services() noexcept { return *backend_services_pointer; }

}  // namespace simple_torch::bridge
