// Operators and drop() of a class round one native handle, each done by a single native call.
#pragma once

#include "../values/direct_calls.h"
#include "../values/objects.h"

namespace spl {

/// A new instance; missing where the class has no short way for it, or the call failed.
Value direct_operation(BinaryOp op, Value a, Value b);

/// Whether the instance's drop() was done here. `SimpleError`s go through.
bool direct_drop(Instance& instance);

}  // namespace spl
