// Host externs that call native code by address.
#pragma once

#include <span>

#include "host/values/objects.h"

namespace spl {

std::span<const NativeEntry> dynamic_externs();

}  // namespace spl
