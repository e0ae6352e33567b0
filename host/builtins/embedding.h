// Externs for programs that run and inspect other programs: modules from source text, members by name.
#pragma once

#include <span>

#include "host/builtins/builtins.h"

namespace spl {

std::span<const NativeEntry> embedding_externs();

}  // namespace spl
