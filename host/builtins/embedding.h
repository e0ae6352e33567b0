// Externs for programs that run and inspect other programs: modules from source text, members by name.
#pragma once

#include <span>

#include "host/builtins/builtins.h"

namespace spl {

/// A value of any type that an extern receives: externs have no such parameters, so it is passed in an array.
Value element(Value array, size_t at = 0);
/// Whether a value has no identity: it is compared by its contents.
bool is_compared_by_contents(Value of);

std::span<const NativeEntry> embedding_externs();

}  // namespace spl
