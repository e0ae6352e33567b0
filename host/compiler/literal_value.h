// Values of literals.
#pragma once

#include "host/syntax/ast.h"
#include "host/values/value.h"

namespace spl {

/// Stores the owned value of a literal without a suffix in `value`. False for any other expression.
bool literal_value(const Expr& expr, Value& value);
/// Stores the value of an i64 or f64 literal in `value`. False for any other expression.
bool number_literal(const Expr& expr, Value& value);

}  // namespace spl
