// Conversions between values: `as`, int(), float(), and the arguments of built-in functions.
#pragma once

#include <string>

#include "host/values/value.h"

namespace spl {

/// The integer of a number, bool or text, or of an object with __int__() or to_int(). Fails for other values.
/// Floats are truncated and clamped to i64; NaN is 0. Text is read up to its first non-digit.
int64_t to_integer(Value v);
/// The float of a number, bool or text, or of an object with __float__() or to_float(). Fails for others.
double to_number(Value v);
/// The string of a text value; fails with `what` as the subject for other values.
const std::string& expect_text(Value v, const char* what);
/// `value as type`; `code` is the type's number in the bytecode. Owned.
Value cast_value(Value v, int code);

}  // namespace spl
