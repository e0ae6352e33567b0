// Externs of std.gzip, std.zlib and std.zipfile: zlib, which is opened at the first use.
#pragma once

#include <span>

#include "host/values/objects.h"

namespace spl {

std::span<const NativeEntry> zlib_externs();

}  // namespace spl
