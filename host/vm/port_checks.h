// The run-time part of the checks of a program with PyTorch: see compiler/port_checks.cpp.
#pragma once

#include "host/compiler/bytecode.h"

namespace spl {

/// Before `a / b`, `a % b`, `a is b` and `a.remove(b)`: warns once if the result differs from Python's.
void check_operands(const PortCheck& check, const Proto& proto, Value a, Value b);
/// Before a method changes `value`, the result of a call: warns once if another place holds the collection.
/// Before a loop over `value` with one variable: warns once if it is a dict.
void check_value(const PortCheck& check, const Proto& proto, Value value);

}  // namespace spl
