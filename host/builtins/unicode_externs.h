// The externs of std.unicodedata.
#pragma once

#include <span>

#include "host/values/objects.h"

namespace spl {

std::span<const NativeEntry> unicode_externs();

}  // namespace spl
