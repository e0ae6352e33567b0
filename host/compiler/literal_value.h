// Values of literals.
#pragma once

#include "host/syntax/ast.h"
#include "host/values/value.h"

namespace spl {

/// Stores the owned value of a literal without a suffix in `value`. False for any other expression.
bool literal_value(const Expr& expr, Value& value);

}  // namespace spl
