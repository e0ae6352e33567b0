// Externs of the host that reach native code by address.
#pragma once

#include <vector>

#include "host/builtins/builtins.h"

namespace spl {

const std::vector<NativeEntry>& dynamic_externs();

}  // namespace spl
