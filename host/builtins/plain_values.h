// Values that cross to and from native code without handles: numbers, text, and arrays and dicts of them.
#pragma once

#include <span>

#include "host/builtins/builtins.h"

namespace spl {

std::span<const NativeEntry> plain_value_externs();

}  // namespace spl
