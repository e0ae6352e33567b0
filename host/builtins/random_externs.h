// Externs of std.random: generators of random numbers with the bits of Python's `random`.
#pragma once

#include <span>

#include "host/builtins/builtins.h"

namespace spl {

std::span<const NativeEntry> random_externs();

}  // namespace spl
