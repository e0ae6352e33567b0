#include "host/values/arithmetic.h"

#include <cmath>

#include "host/values/error.h"

namespace spl {

void fail_by_zero(BinaryOp op) {
  SimpleError error(op == BinaryOp::kRemainder ? "remainder by zero" : "division by zero");
  error.error_class = ErrorClass::kDivisionByZero;
  throw error;
}

namespace {

int64_t integer_power(int64_t base, int64_t exponent) {
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
    if ((left & 1) != 0) {
      result *= factor;
    }
    factor *= factor;
  }
  return static_cast<int64_t>(result);
}

int64_t floor_quotient(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
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
    case BinaryOp::kFloorDivide:
      if (b == 0) {
        fail_by_zero(op);
      }
      return Value::integer(b == -1 ? static_cast<int64_t>(0 - x) : floor_quotient(a, b));
    case BinaryOp::kPower:
      if (b < 0 && a == 0) {
        fail_by_zero(BinaryOp::kDivide);
      }
      return b < 0 ? Value::number(std::pow(static_cast<double>(a), static_cast<double>(b)))
                   : Value::integer(integer_power(a, b));
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
    case BinaryOp::kFloorDivide:
      if (b == 0) {
        fail_by_zero(op);
      }
      return Value::number(floor_division(a, b).quotient);
    case BinaryOp::kPower:
      return Value::number(std::pow(a, b));
    default:
      return Value::missing();
  }
}

}  // namespace

// The remainder is exact. The quotient is computed from it, and is therefore close to an integer.
FloorDivision floor_division(double a, double b) {
  double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0.0 && (remainder < 0.0) != (b < 0.0)) {
    remainder += b;
    quotient -= 1.0;
  } else if (remainder == 0.0) {
    remainder = std::copysign(0.0, b);
  }
  if (quotient == 0.0) {
    return {std::copysign(0.0, a / b), remainder};
  }
  const double floor = std::floor(quotient);
  return {quotient - floor > 0.5 ? floor + 1.0 : floor, remainder};
}

namespace {

bool power_wraps(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result)) {
      return true;
    }
    if (result == 0 || result == 1 || (base == -1 && exponent > 2)) {
      return false;
    }
  }
  return false;
}

}  // namespace

bool wraps(BinaryOp op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSubtract:
    case BinaryOp::kMultiply:
      return !is_exact(op, a, b, result);
    case BinaryOp::kPower:
      return power_wraps(a, b);
    case BinaryOp::kShiftLeft:
      return a != 0 && b >= 0 && (b > 63 || static_cast<int64_t>(static_cast<uint64_t>(a) << b) >> b != a);
    default:
      return false;
  }
}

Value number_arithmetic(BinaryOp op, Value a, Value b) {
  return a.is_int() && b.is_int() ? integers(op, a.as_int, b.as_int)
                                  : floats(op, a.to_double(), b.to_double());
}

}  // namespace spl
