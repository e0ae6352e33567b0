// Externs of std.http's server: TCP sockets.
#pragma once

#include <span>

#include "host/values/objects.h"

namespace spl {

std::span<const NativeEntry> socket_externs();

}  // namespace spl
