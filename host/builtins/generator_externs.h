// Externs by which another language runs generators: with a value or an error for their `yield`.
#pragma once

#include <span>

#include "host/builtins/builtins.h"

namespace spl {

std::span<const NativeEntry> generator_externs();

}  // namespace spl
