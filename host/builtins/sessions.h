// The host functions of sessions: see modules/session.h.
#pragma once

#include <span>

#include "host/builtins/builtins.h"

namespace spl {

std::span<const NativeEntry> session_externs();

}  // namespace spl
