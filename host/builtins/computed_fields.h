// Objects that compute fields when they are read.
#pragma once

#include <span>

#include "host/values/objects.h"

namespace spl {

std::span<const NativeEntry> computed_field_externs();

}  // namespace spl
