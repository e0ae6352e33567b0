// Externs that describe functions to another language: identity, parameters, types and documentation.
#pragma once

#include <span>

#include "host/builtins/builtins.h"

namespace spl {

/// Whether the declaration of a function has the attribute.
bool has_attribute(Value function, const char* name);

std::span<const NativeEntry> signature_externs();

}  // namespace spl
