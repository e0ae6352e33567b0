// Arithmetic that wraps around at a width, and conversions between the widths.
#include "host/values/sized.h"

#include <cmath>
#include <cstdlib>

#include "host/values/arithmetic.h"
#include "host/values/conversions.h"
#include "host/values/error.h"
#include "host/values/objects.h"

namespace spl {

namespace {

struct Width {
  const char* name;
  int bits;
  Tag tag;
  bool is_signed;
};
constexpr Width kWidths[] = {
    {"i8", 8, Tag::kInt8, true},      {"i16", 16, Tag::kInt16, true},   {"i32", 32, Tag::kInt32, true},
    {"u8", 8, Tag::kUint8, false},    {"u16", 16, Tag::kUint16, false}, {"u32", 32, Tag::kUint32, false},
    {"u64", 64, Tag::kUint64, false}, {"f32", 32, Tag::kFloat32, true},
};

const Width& width_of(Tag tag) { return kWidths[static_cast<int>(tag) - static_cast<int>(Tag::kInt8)]; }

// The result type of two integers, at least one of them sized.
Tag common_type(Value a, Value b) {
  if (!a.is_sized()) {
    return b.tag;
  }
  if (!b.is_sized()) {
    return a.tag;
  }
  const Width &left = width_of(a.tag), &right = width_of(b.tag);
  if (left.bits != right.bits) {
    return left.bits > right.bits ? left.tag : right.tag;
  }
  return left.is_signed ? right.tag : left.tag;
}

uint64_t magnitude(Value v) { return static_cast<uint64_t>(v.as_int); }

// Signed division of the bits would be wrong for a u64 above INT64_MAX.
Value unsigned_division(BinaryOp op, Value a, Value b) {
  if (b.as_int == 0) {
    fail_by_zero(op);
  }
  const uint64_t result =
      op == BinaryOp::kRemainder ? magnitude(a) % magnitude(b) : magnitude(a) / magnitude(b);
  return sized_integer(Tag::kUint64, static_cast<int64_t>(result));
}

}  // namespace

Value plain(Value v) {
  if (!v.is_sized()) {
    return v;
  }
  return is_single(v) ? Value::number(v.as_float) : Value::integer(v.as_int);
}

double number_as_double(Value v) {
  if (v.tag == Tag::kUint64) {
    return static_cast<double>(magnitude(v));
  }
  return plain(v).to_double();
}

const char* sized_name(Tag tag) { return width_of(tag).name; }

Tag sized_type(const std::string& name) {
  for (const Width& width : kWidths) {
    if (name == width.name) {
      return width.tag;
    }
  }
  return Tag::kNil;
}

Value sized_integer(Tag type, int64_t bits) {
  const Width& width = width_of(type);
  Value v = Value::integer(bits);
  v.tag = type;
  const int unused = 64 - width.bits;
  if (unused > 0) {
    v.as_int = width.is_signed ? static_cast<int64_t>(static_cast<uint64_t>(bits) << unused) >> unused
                               : static_cast<int64_t>((static_cast<uint64_t>(bits) << unused) >> unused);
  }
  return v;
}

Value single(double value) {
  Value v = Value::number(static_cast<float>(value));
  v.tag = Tag::kFloat32;
  return v;
}

Value sized_from(Tag type, Value number) {
  if (type == Tag::kFloat32) {
    return single(number_as_double(number));
  }
  const bool fraction = number.is_float() || is_single(number);
  if (fraction && type == Tag::kUint64 && number.as_float >= 9223372036854775808.0) {
    return sized_integer(type, number.as_float >= 18446744073709551616.0
                                   ? -1
                                   : static_cast<int64_t>(static_cast<uint64_t>(number.as_float)));
  }
  return sized_integer(type, to_integer(number));
}

Value cast_to(Tag type, Value v) {
  if (is_any_number(v)) {
    return sized_from(type, v);
  }
  return type == Tag::kFloat32 ? single(to_number(v)) : sized_integer(type, to_integer(v));
}

Value absolute_sized(Value v) {
  if (is_single(v)) {
    return single(std::fabs(v.as_float));
  }
  return v.tag != Tag::kUint64 && v.as_int < 0 ? sized_integer(v.tag, -v.as_int) : v;
}

Value sized_arithmetic(BinaryOp op, Value a, Value b) {
  const auto as_floats = [&] {
    return number_arithmetic(op, Value::number(number_as_double(a)), Value::number(number_as_double(b)));
  };
  if (a.is_float() || b.is_float()) {
    return as_floats();
  }
  if (is_single(a) || is_single(b)) {
    const Value result = as_floats();
    return result.is_missing() ? result : single(result.as_float);
  }
  const bool shift = op == BinaryOp::kShiftLeft || op == BinaryOp::kShiftRight;
  if (shift && !a.is_sized()) {
    return number_arithmetic(op, a, plain(b));
  }
  const Tag type = shift ? a.tag : common_type(a, b);
  const bool divides = op == BinaryOp::kDivide || op == BinaryOp::kRemainder || op == BinaryOp::kFloorDivide;
  if (type == Tag::kUint64 && divides) {
    return unsigned_division(op, a, b);
  }
  if (type == Tag::kUint64 && op == BinaryOp::kShiftRight && b.as_int >= 0) {
    return sized_integer(type, b.as_int > 63 ? 0 : static_cast<int64_t>(magnitude(a) >> b.as_int));
  }
  const Value result = number_arithmetic(op, Value::integer(a.as_int), Value::integer(b.as_int));
  return result.is_missing() ? result : sized_integer(type, result.as_int);
}

IntegerWidth narrow_width(std::string_view type) {
  for (const Width& width : kWidths) {
    if (type == width.name && width.bits < 64 && width.tag != Tag::kFloat32) {
      return width.is_signed ? -width.bits : width.bits;
    }
  }
  return 0;
}

void fail_width(const std::string& what, Value v, IntegerWidth width) {
  const std::string bits = std::to_string(std::abs(width));
  const bool is_type = width == 8 || width == 16 || width == 32 || width < 0;
  const std::string type = (width < 0 ? "i" : "u") + bits;
  fail(what + (is_type ? " is declared as " + type : " has " + bits + (width == 1 ? " bit" : " bits")) +
           ", got " + (v.is_sized() ? display_sized(v) : std::to_string(v.as_int)),
       is_type ? "'value as " + type + "' keeps the lowest " + bits + " bits" : "");
}

int compare_numbers(Value a, Value b) {
  if (is_any_integer(a) && is_any_integer(b)) {
    const bool large_a = a.tag == Tag::kUint64 && a.as_int < 0;
    const bool large_b = b.tag == Tag::kUint64 && b.as_int < 0;
    if (large_a != large_b) {
      return large_a ? 1 : -1;
    }
    return a.as_int < b.as_int ? -1 : a.as_int > b.as_int;
  }
  const double x = number_as_double(a), y = number_as_double(b);
  return x < y ? -1 : x > y;
}

bool numbers_equal(Value a, Value b) {
  if (is_any_integer(a) && is_any_integer(b)) {
    return compare_numbers(a, b) == 0;
  }
  return number_as_double(a) == number_as_double(b);
}

std::string display_sized(Value v) {
  if (is_single(v)) {
    return display_single(static_cast<float>(v.as_float));
  }
  return v.tag == Tag::kUint64 ? std::to_string(magnitude(v)) : std::to_string(v.as_int);
}

}  // namespace spl
