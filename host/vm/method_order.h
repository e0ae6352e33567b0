// The order of a class's ancestors, in which methods are found: Python's C3 linearization.
#pragma once

#include <vector>

#include "host/values/objects.h"

namespace spl {

/// Puts the parents and their ancestors in the order, before the type's other ancestors (of impl blocks).
void add_ancestors(Type& type, const std::vector<const Type*>& parents);

/// What `super().name` means in the class statement with the key, for `self`, an object or a class: the next
/// class that defines the name in the order of self's class. `parent`, which may be nil, if that class has
/// single inheritance only. Borrowed.
Value next_class(Value parent, int64_t key, Value self, Symbol name);

}  // namespace spl
