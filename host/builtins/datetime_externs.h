// Externs of std.datetime: time zones, and arithmetic of durations that needs more than 64 bits.
#pragma once

#include <span>

#include "host/values/objects.h"

namespace spl {

std::span<const NativeEntry> datetime_externs();

}  // namespace spl
