// One pointer for the life of the process.
#include "bridge/runtime/backend.h"

namespace simple_torch::bridge {
namespace {

const BackendServices* given_services = nullptr;

}  // namespace

void set_backend_services(const BackendServices* services) noexcept { given_services = services; }

const BackendServices& backend_services() noexcept { return *given_services; }

}  // namespace simple_torch::bridge
