// Types that are declared inside functions.
#pragma once

#include "host/compiler/bytecode.h"
#include "host/values/module.h"

namespace spl {

/// The value of a path such as nn.Module, or missing. A member of an object is an attribute of another
/// language's module. With `computed`, a module's function __getattr__ supplies members, too.
Ref find_type(LoadedModule& module, const std::vector<Symbol>& path, bool computed = false);

/// The method by which a class of another language creates a subclass; null for other values.
const Method* subclass_maker(Value parent);

/// The link of a declaration inside a function: methods that capture variables become closures over
/// `registers`, and the type is copied for them. `enclosing` is the closure of that function.
TypeLink bind_link(const TypeLink& link, const Proto& proto, const Value* registers,
                   const Closure* enclosing);

}  // namespace spl
