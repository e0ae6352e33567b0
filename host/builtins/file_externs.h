// Externs of std.io, std.tempfile and std.fs: open files, temporary files, and what the system knows of a
// path.
#pragma once

#include <span>

#include "host/values/objects.h"

namespace spl {

std::span<const NativeEntry> file_externs();

}  // namespace spl
