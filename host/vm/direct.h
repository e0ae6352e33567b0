// Operators, calls and drop() of a class round one native handle, each done by a single native call.
#pragma once

#include "host/compiler/bytecode.h"
#include "host/values/direct_calls.h"
#include "host/values/objects.h"

namespace spl {

/// A new instance; missing where the class has no short way for it, or the call failed.
Value direct_operation(BinaryOp op, Value a, Value b);

/// What the object that the handle stands for gives: for a call of it, for one of its methods, for a field.
/// Missing where the class has no short way for it, or an argument is of a type that has none; nothing was
/// called then. A call that fails stops with its failure. All is borrowed; `self` of a call and an
/// invocation, and the arguments, stand in registers.
Value direct_call(Value self, const Value* args, uint32_t count, const CallSpec* spec);
Value direct_invoke(Value self, Symbol method, const Value* args, uint32_t count, const CallSpec* spec);
Value direct_get(Value self, Symbol field);

/// Whether the instance's drop() was done here. `SimpleError`s go through.
bool direct_drop(Instance& instance);

}  // namespace spl
