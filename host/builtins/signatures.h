// Externs that describe functions to another language: identity, parameters, types and documentation.
#pragma once

#include <span>

#include "host/builtins/builtins.h"

namespace spl {

std::span<const NativeEntry> signature_externs();

}  // namespace spl
