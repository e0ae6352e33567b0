// Externs for programs that others look into: modules made of text, members by name, all ends as values.
#pragma once

#include <span>

#include "host/builtins/builtins.h"

namespace spl {

std::span<const NativeEntry> embedding_externs();

}  // namespace spl
