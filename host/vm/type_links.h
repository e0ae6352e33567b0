// Types that are declared inside functions.
#pragma once

#include "host/compiler/bytecode.h"

namespace spl {

/// The method by which a class of another language creates a subclass; null for other values.
const Method* subclass_maker(Value parent);

/// The link of a declaration inside a function: methods that capture variables become closures over
/// `registers`, and the type is copied for them. `enclosing` is the closure of that function.
TypeLink bind_link(const TypeLink& link, const Proto& proto, const Value* registers,
                   const Closure* enclosing);

}  // namespace spl
