// Types that are declared inside functions.
#pragma once

#include "host/compiler/bytecode.h"

namespace spl {

/// The link as it is when its declaration is reached: methods that use the function's variables are closures
/// over them, and belong to a type of their own. `registers` are those of the function, `round` is its
/// closure.
TypeLink reached_link(const TypeLink& link, const Proto& proto, const Value* registers, const Closure* round);

}  // namespace spl
