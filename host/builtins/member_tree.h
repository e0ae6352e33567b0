// Externs that list the members of modules: objects whose fields hold parameters, buffers and other modules.
#pragma once

#include <span>

#include "host/builtins/builtins.h"

namespace spl {

/// The indexes of an object's fields: first those without an assigned object, then the others in the order of
/// their first assignment, which a class with a field __order__ records.
std::vector<size_t> order_of_fields(Instance& instance);

std::span<const NativeEntry> member_tree_externs();

}  // namespace spl
