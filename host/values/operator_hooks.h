// The method names by which a class defines operators: __add__, __radd__, __iadd__ and so on.
#pragma once

#include "host/syntax/ast.h"
#include "host/values/value.h"

namespace spl {

struct OperatorHooks {
  const char* sign;
  Symbol left, right, inplace;
  BinaryOp op;
  Symbol scalar = kNoSymbol;  // tried first if the right operand is a number
};

/// The hooks of an operator; null for an operator without hooks.
const OperatorHooks* hooks_of(BinaryOp op);
/// The hook of `a op= b`; kNoSymbol for an operator without one.
Symbol inplace_hook(BinaryOp op);
/// The operator whose left operand's hook has this name; null for other names.
const BinaryOp* operator_of_hook(Symbol method);

}  // namespace spl
