// Externs of std.sync: mutexes and conditions of Simple's threads.
#pragma once

#include <span>

#include "host/values/objects.h"

namespace spl {

std::span<const NativeEntry> sync_externs();

}  // namespace spl
