// Direct calls: operators, calls and drop() of a class with one native handle, as one native call each.
#pragma once

#include "host/compiler/bytecode.h"
#include "host/values/direct_calls.h"
#include "host/values/objects.h"

namespace spl {

/// A new instance; missing if the class has no direct call for it, or the call failed.
Value direct_operation(BinaryOp op, Value a, Value b);

/// The result of a call, a method or a field of the object behind the handle. Missing, without a call, if the
/// class has no direct call for it or an argument cannot be packed. Raises the error of a failed call. All
/// values are borrowed; `self` (except for direct_get) and the arguments must be in registers.
Value direct_call(Value self, const Value* args, uint32_t count, const CallSpec* spec);
Value direct_invoke(Value self, Symbol method, const Value* args, uint32_t count, const CallSpec* spec);
Value direct_get(Value self, Symbol field);

/// Runs the direct drop() of an instance; false if its class has none. Throws SimpleError.
bool direct_drop(Instance& instance);

}  // namespace spl
