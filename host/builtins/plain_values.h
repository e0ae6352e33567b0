// Values that cross to and from native code without handles: numbers, text, and arrays and dicts of them.
#pragma once

#include <span>

#include "host/builtins/builtins.h"

namespace spl {

/// Whether the value consists of nil, bools, numbers and text without NUL, in arrays up to 100 levels deep.
bool is_plain(Value v);

std::span<const NativeEntry> plain_value_externs();

}  // namespace spl
