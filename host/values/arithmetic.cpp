#include "host/values/arithmetic.h"

#include <cmath>

#include "host/values/error.h"

namespace spl {

void fail_by_zero(BinaryOp op) {
  SimpleError error(op == BinaryOp::kDivide ? "division by zero" : "remainder by zero");
  error.error_class = ErrorClass::kDivisionByZero;
  throw error;
}

namespace {

int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    fail("negative exponent of an integer power; use a float");
  }
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
    if ((left & 1) != 0) {
      result *= factor;
    }
    factor *= factor;
  }
  return static_cast<int64_t>(result);
}

Value integers(BinaryOp op, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
    case BinaryOp::kAdd:
      return Value::integer(static_cast<int64_t>(x + y));
    case BinaryOp::kSubtract:
      return Value::integer(static_cast<int64_t>(x - y));
    case BinaryOp::kMultiply:
      return Value::integer(static_cast<int64_t>(x * y));
    case BinaryOp::kDivide:
      if (b == 0) {
        fail_by_zero(op);
      }
      return b == -1 ? Value::integer(static_cast<int64_t>(0 - x)) : Value::integer(a / b);
    case BinaryOp::kRemainder:
      if (b == 0) {
        fail_by_zero(op);
      }
      return Value::integer(b == -1 ? 0 : a % b);
    case BinaryOp::kPower:
      return Value::integer(integer_power(a, b));
    case BinaryOp::kShiftLeft:
      if (b < 0) {
        fail("negative shift count");
      }
      return Value::integer(b > 63 ? 0 : static_cast<int64_t>(x << b));
    case BinaryOp::kShiftRight:
      if (b < 0) {
        fail("negative shift count");
      }
      return Value::integer(a >> (b > 63 ? 63 : b));
    case BinaryOp::kBitAnd:
      return Value::integer(a & b);
    case BinaryOp::kBitOr:
      return Value::integer(a | b);
    case BinaryOp::kBitXor:
      return Value::integer(a ^ b);
    default:
      return Value::missing();
  }
}

Value floats(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return Value::number(a + b);
    case BinaryOp::kSubtract:
      return Value::number(a - b);
    case BinaryOp::kMultiply:
      return Value::number(a * b);
    case BinaryOp::kDivide:
      return Value::number(a / b);
    case BinaryOp::kRemainder:
      if (b == 0) {
        fail_by_zero(op);
      }
      return Value::number(std::fmod(a, b));
    case BinaryOp::kPower:
      return Value::number(std::pow(a, b));
    default:
      return Value::missing();
  }
}

}  // namespace

Value number_arithmetic(BinaryOp op, Value a, Value b) {
  return a.is_int() && b.is_int() ? integers(op, a.as_int, b.as_int)
                                  : floats(op, a.to_double(), b.to_double());
}

}  // namespace spl
