// Arithmetic of plain numbers: i64 wraps around, f64 follows IEEE 754.
#pragma once

#include "host/syntax/ast.h"
#include "host/values/value.h"

namespace spl {

/// `a op b` of two plain numbers (not sized ones). Two integers yield an integer, all else a float. Missing
/// for comparisons and for operators that the operands do not have. Fails on a division by zero, a negative
/// shift, and a negative power of an integer.
Value number_arithmetic(BinaryOp op, Value a, Value b);

/// Stores `a op b` of a sum, difference or product. False, with the wrapped result, if it needs more than 64
/// bits.
inline bool is_exact(BinaryOp op, int64_t a, int64_t b, int64_t& result) {
  return op == BinaryOp::kAdd        ? !__builtin_add_overflow(a, b, &result)
         : op == BinaryOp::kSubtract ? !__builtin_sub_overflow(a, b, &result)
                                     : !__builtin_mul_overflow(a, b, &result);
}
/// Whether the result of an operation on integers needs more than 64 bits and wraps.
bool wraps(BinaryOp op, int64_t a, int64_t b);

struct FloorDivision {
  double quotient, remainder;
};
/// The quotient rounded down, and the remainder, which has the sign of `b`. `b` is not 0.
FloorDivision floor_division(double a, double b);

/// The error of a division or remainder by zero.
[[noreturn]] void fail_by_zero(BinaryOp op);

}  // namespace spl
