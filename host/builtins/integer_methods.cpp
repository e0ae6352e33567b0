// Methods of integers: bits, digits, and arithmetic that wraps, saturates or reports an overflow.
#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "host/builtins/builtins.h"
#include "host/values/arithmetic.h"
#include "host/values/sized.h"
#include "host/vm/natives.h"
#include "host/vm/thread.h"

namespace spl {

namespace integer_methods {
namespace {

__extension__ using Wide = __int128;

struct Layout {
  int bits;
  bool is_signed;
};

Layout layout_of(Value v, const char* method) {
  switch (v.tag) {
    case Tag::kInt:
      return {64, true};
    case Tag::kInt8:
      return {8, true};
    case Tag::kInt16:
      return {16, true};
    case Tag::kInt32:
      return {32, true};
    case Tag::kUint8:
      return {8, false};
    case Tag::kUint16:
      return {16, false};
    case Tag::kUint32:
      return {32, false};
    case Tag::kUint64:
      return {64, false};
    default:
      fail(std::string(method) + ": expected an integer, got " + type_name(v));
  }
}

// The bits of the value in its own width, the others 0.
uint64_t bits_of(Value v, Layout layout) {
  const auto bits = static_cast<uint64_t>(v.as_int);
  return layout.bits == 64 ? bits : bits & ((uint64_t{1} << layout.bits) - 1);
}
Value of_type(Value like, uint64_t bits) {
  const auto number = static_cast<int64_t>(bits);
  return like.is_int() ? Value::integer(number) : sized_integer(like.tag, number);
}
Wide wide_of(Value v) {
  return v.tag == Tag::kUint64 ? static_cast<Wide>(static_cast<uint64_t>(v.as_int))
                               : static_cast<Wide>(v.as_int);
}

// ---- Bits ------------------------------------------------------------------------------------------------

Value count_ones(Thread&, Value* args, int) {
  return Value::integer(std::popcount(bits_of(args[0], layout_of(args[0], "count_ones"))));
}
Value count_zeros(Thread&, Value* args, int) {
  const Layout layout = layout_of(args[0], "count_zeros");
  return Value::integer(layout.bits - std::popcount(bits_of(args[0], layout)));
}
Value leading_zeros(Thread&, Value* args, int) {
  const Layout layout = layout_of(args[0], "leading_zeros");
  return Value::integer(std::countl_zero(bits_of(args[0], layout)) - (64 - layout.bits));
}
Value trailing_zeros(Thread&, Value* args, int) {
  const Layout layout = layout_of(args[0], "trailing_zeros");
  return Value::integer(std::min(std::countr_zero(bits_of(args[0], layout)), layout.bits));
}
Value rotated(Value v, Layout layout, int64_t left) {
  const auto width = static_cast<uint64_t>(layout.bits);
  const uint64_t shift = static_cast<uint64_t>((left % layout.bits + layout.bits) % layout.bits);
  const uint64_t bits = bits_of(v, layout);
  return of_type(v, shift == 0 ? bits : bits << shift | bits >> (width - shift));
}
Value rotate_left(Thread&, Value* args, int) {
  const Layout layout = layout_of(args[0], "rotate_left");
  return rotated(args[0], layout, to_integer(args[1]) % layout.bits);
}
Value rotate_right(Thread&, Value* args, int) {
  const Layout layout = layout_of(args[0], "rotate_right");
  return rotated(args[0], layout, -(to_integer(args[1]) % layout.bits));
}
Value is_power_of_two(Thread&, Value* args, int) {
  layout_of(args[0], "is_power_of_two");
  const Wide number = wide_of(args[0]);
  return Value::boolean(number > 0 && (number & (number - 1)) == 0);
}
// Without the sign, as in Python.
Value bit_length(Thread&, Value* args, int) {
  layout_of(args[0], "bit_length");
  const Wide number = wide_of(args[0]);
  return Value::integer(
      static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(number < 0 ? -number : number))));
}

// ---- Arithmetic ------------------------------------------------------------------------------------------

struct Exact {
  Wide value = 0;
  bool fits = false;    // in the type of the left operand
  uint64_t bits = 0;    // the result that wraps
  bool is_low = false;  // below the type's smallest number
};

Wide least_of(Layout layout) { return layout.is_signed ? -(Wide{1} << (layout.bits - 1)) : 0; }
Wide greatest_of(Layout layout) {
  return (Wide{1} << (layout.is_signed ? layout.bits - 1 : layout.bits)) - 1;
}

Exact exact(BinaryOp op, const Value* args, const char* method) {
  const Layout layout = layout_of(args[0], method);
  layout_of(args[1], method);
  const Wide a = wide_of(args[0]), b = wide_of(args[1]);
  const auto x = static_cast<uint64_t>(args[0].as_int), y = static_cast<uint64_t>(args[1].as_int);
  Exact result;
  bool is_lost = false;  // only a product of two large unsigned numbers
  if (op == BinaryOp::kAdd) {
    result.value = a + b;
    result.bits = x + y;
  } else if (op == BinaryOp::kSubtract) {
    result.value = a - b;
    result.bits = x - y;
  } else {
    is_lost = __builtin_mul_overflow(a, b, &result.value);
    result.bits = x * y;
  }
  result.is_low = !is_lost && result.value < least_of(layout);
  result.fits = !is_lost && !result.is_low && result.value <= greatest_of(layout);
  return result;
}

template <BinaryOp Op>
Value wrapping(Thread&, Value* args, int) {
  return of_type(args[0], exact(Op, args, "wrapping arithmetic").bits);
}
template <BinaryOp Op>
Value checked(Thread&, Value* args, int) {
  const Exact result = exact(Op, args, "checked arithmetic");
  return result.fits ? make_some(of_type(args[0], result.bits)) : make_none();
}
Value checked_div(Thread&, Value* args, int) {
  const Layout layout = layout_of(args[0], "checked_div");
  layout_of(args[1], "checked_div");
  const Wide divisor = wide_of(args[1]);
  if (divisor == 0) {
    return make_none();
  }
  const Wide quotient = wide_of(args[0]) / divisor;
  return quotient < least_of(layout) || quotient > greatest_of(layout)
             ? make_none()
             : make_some(of_type(args[0], static_cast<uint64_t>(quotient)));
}
template <BinaryOp Op>
Value saturating(Thread&, Value* args, int) {
  const Exact result = exact(Op, args, "saturating arithmetic");
  const Layout layout = layout_of(args[0], "saturating arithmetic");
  const Wide limit = result.is_low ? least_of(layout) : greatest_of(layout);
  return of_type(args[0], result.fits ? result.bits : static_cast<uint64_t>(limit));
}
Value floor_divided(Thread& thread, Value* args, int) {
  return thread.arithmetic(BinaryOp::kFloorDivide, args[0], args[1]);
}
uint64_t magnitude(Value v, const char* method) {
  layout_of(v, method);
  const Wide number = wide_of(v);
  return static_cast<uint64_t>(number < 0 ? -number : number);
}
Value gcd(Thread&, Value* args, int) {
  return of_type(args[0], std::gcd(magnitude(args[0], "gcd"), magnitude(args[1], "gcd")));
}
Value lcm(Thread&, Value* args, int) {
  const uint64_t a = magnitude(args[0], "lcm"), b = magnitude(args[1], "lcm");
  return of_type(args[0], a == 0 || b == 0 ? 0 : a / std::gcd(a, b) * b);
}

// ---- Properties ------------------------------------------------------------------------------------------

Value is_even(Thread&, Value* args, int) {
  layout_of(args[0], "is_even");
  return Value::boolean((args[0].as_int & 1) == 0);
}
Value is_odd(Thread&, Value* args, int) {
  layout_of(args[0], "is_odd");
  return Value::boolean((args[0].as_int & 1) != 0);
}

// ---- Digits and counting ---------------------------------------------------------------------------------

std::string digits_in(uint64_t number, unsigned base) {
  std::string digits;
  do {
    digits += "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}
// A negative number as its bits.
template <unsigned Base>
Value in_base(Thread&, Value* args, int) {
  return make_text(digits_in(bits_of(args[0], layout_of(args[0], "to_hex, to_bin or to_oct")), Base));
}
// The lowest digit first.
Value digits(Thread&, Value* args, int count) {
  layout_of(args[0], "digits");
  const Wide number = wide_of(args[0]);
  const int64_t base = count > 1 ? to_integer(args[1]) : 10;
  if (number < 0) {
    fail("digits: the number must be non-negative, got " + display(args[0]));
  }
  if (base < 2) {
    fail("digits: base must be at least 2, got " + std::to_string(base));
  }
  std::vector<Value> found;
  auto rest = static_cast<uint64_t>(number);
  do {
    found.push_back(Value::integer(static_cast<int64_t>(rest % static_cast<uint64_t>(base))));
    rest /= static_cast<uint64_t>(base);
  } while (rest != 0);
  return make_array(std::move(found));
}
// The results of f(0), f(1) … f(n - 1).
Value times(Thread& thread, Value* args, int) {
  layout_of(args[0], "times");
  const Ref results = Ref::owned(make_array({}));
  const Proto* const proto = args[1].is(Kind::kClosure) ? as_object<Closure>(args[1])->proto : nullptr;
  for (int64_t i = 0; i < args[0].as_int; ++i) {
    thread.native_safepoint(proto);
    const Value number = Value::integer(i);
    as_object<Array>(results.get())->items.push_back(thread.call(args[1], &number, 1));
  }
  return retained(results.get());
}
Value integers(int64_t first, int64_t step, Wide count) {
  if (count > Wide{1} << 34) {
    fail("an array of more than 2**34 elements is too large");
  }
  auto* made = new Array();
  if (count > 0) {
    made->items.fill_with_integers(first, step, static_cast<size_t>(count));
  }
  return Value::object(made);
}
// The integers from this one up to `end`, which is left out.
Value up_to(Thread&, Value* args, int) {
  layout_of(args[0], "up_to");
  return integers(args[0].as_int, 1, static_cast<Wide>(to_integer(args[1])) - args[0].as_int);
}
// The integers below this one down to `end`.
Value down_to(Thread&, Value* args, int) {
  layout_of(args[0], "down_to");
  const int64_t end = to_integer(args[1]);
  const bool is_empty = args[0].as_int <= end;
  return is_empty ? make_array({})
                  : integers(args[0].as_int - 1, -1, static_cast<Wide>(args[0].as_int) - end);
}

const NativeEntry kIntegers[] = {
    {"count_ones", count_ones, 1, 1},
    {"bit_count", count_ones, 1, 1},
    {"count_zeros", count_zeros, 1, 1},
    {"leading_zeros", leading_zeros, 1, 1},
    {"trailing_zeros", trailing_zeros, 1, 1},
    {"rotate_left", rotate_left, 2, 2},
    {"rotate_right", rotate_right, 2, 2},
    {"is_power_of_two", is_power_of_two, 1, 1},
    {"bit_length", bit_length, 1, 1},
    {"wrapping_add", wrapping<BinaryOp::kAdd>, 2, 2},
    {"wrapping_sub", wrapping<BinaryOp::kSubtract>, 2, 2},
    {"wrapping_mul", wrapping<BinaryOp::kMultiply>, 2, 2},
    {"checked_add", checked<BinaryOp::kAdd>, 2, 2},
    {"checked_sub", checked<BinaryOp::kSubtract>, 2, 2},
    {"checked_mul", checked<BinaryOp::kMultiply>, 2, 2},
    {"checked_div", checked_div, 2, 2},
    {"saturating_add", saturating<BinaryOp::kAdd>, 2, 2},
    {"saturating_sub", saturating<BinaryOp::kSubtract>, 2, 2},
    {"saturating_mul", saturating<BinaryOp::kMultiply>, 2, 2},
    {"fdiv", floor_divided, 2, 2},
    {"gcd", gcd, 2, 2},
    {"lcm", lcm, 2, 2},
    {"is_even", is_even, 1, 1},
    {"is_odd", is_odd, 1, 1},
    {"to_hex", in_base<16>, 1, 1},
    {"to_bin", in_base<2>, 1, 1},
    {"to_oct", in_base<8>, 1, 1},
    {"digits", digits, 1, 2},
    {"times", times, 2, 2},
    {"up_to", up_to, 2, 2},
    {"down_to", down_to, 2, 2},
};

}  // namespace
}  // namespace integer_methods

void install_integer_methods() { add_number_methods(integer_methods::kIntegers); }

}  // namespace spl
