// Externs of std.sqlite: SQLite, which is opened at the first connection.
#pragma once

#include <span>

#include "host/values/objects.h"

namespace spl {

std::span<const NativeEntry> sqlite_externs();

}  // namespace spl
