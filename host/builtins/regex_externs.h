// Externs of std.regex. They are in the host, because the matches of a text are texts and positions of it.
#pragma once

#include <span>

#include "host/values/objects.h"

namespace spl {

std::span<const NativeEntry> regex_externs();

}  // namespace spl
