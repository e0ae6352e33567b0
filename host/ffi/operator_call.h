// Calls of the native operators that functions name in @[operator(…)]. Arguments are packed on the C++ stack,
// so that a call runs no Simple code.
#pragma once

#include "host/compiler/bytecode.h"
#include "host/values/objects.h"

namespace spl {

/// The result of the operator `name`: a new instance, or the first argument if the operator works in place.
/// Missing if the function's body has to run: an argument has no native form, or the native function returned
/// 0 or less. The arguments are borrowed and must be in registers; the `leading` first ones have no entry in
/// `spec`.
Value call_operator(const Proto& proto, Symbol name, const Value* args, uint32_t count, uint32_t leading,
                    const CallSpec* spec);

/// self[key]; missing if __getitem__ has to run.
Value get_item(const Proto& proto, Value self, Value key);

/// self[key] = value; false if __setitem__ has to run.
bool set_item(const Proto& proto, Value self, Value key, Value value);

}  // namespace spl
