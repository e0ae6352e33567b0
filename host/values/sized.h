// Sized numbers: i8 to u64, and f32. i64 and f64 are the plain numbers.
//
// A sized integer is stored in as_int, sign- or zero-extended; an f32 in as_float, already rounded.
#pragma once

#include <string>
#include <string_view>

#include "host/syntax/ast.h"
#include "host/values/value.h"

namespace spl {

inline bool is_single(Value v) { return v.tag == Tag::kFloat32; }
inline bool is_any_integer(Value v) { return v.is_int() || (v.is_sized() && !is_single(v)); }
inline bool is_any_number(Value v) { return v.is_number() || v.is_sized(); }

/// A sized number as i64 or f64; other values unchanged. A u64 keeps its bits.
Value plain(Value v);
double number_as_double(Value v);

/// The type's name, "i8" to "f32"; and the inverse, kNil for other names.
const char* sized_name(Tag tag);
Tag sized_type(const std::string& name);

/// `bits` cut to the width of `type`.
Value sized_integer(Tag type, int64_t bits);
Value single(double value);
/// Any number as `type`: integers are cut, floats truncated toward zero.
Value sized_from(Tag type, Value number);
/// `v as i8` … `v as f32`, of numbers, bools and text.
Value cast_to(Tag type, Value v);
Value absolute_sized(Value v);

/// The bits of an integer type narrower than 64: 8 for u8, -8 for i8; 0 for other types.
using IntegerWidth = int;
IntegerWidth narrow_width(std::string_view type);
/// Whether an integer has a value of this width; true for all other values.
inline bool fits_width(Value v, IntegerWidth width) {
  if (!is_any_integer(v) || width == 0) {
    return true;
  }
  if (width > 0) {
    return (static_cast<uint64_t>(v.as_int) >> width) == 0;
  }
  const int64_t limit = int64_t{1} << (-width - 1);
  return v.as_int >= -limit && v.as_int < limit && v.tag != Tag::kUint64;
}
[[noreturn]] void fail_width(const std::string& what, Value v, IntegerWidth width);

/// Arithmetic with at least one sized number; missing for operators that numbers do not have. The result has
/// the wider sized type, the unsigned one of two equal widths. An i64 operand takes the sized type, and an
/// f64 operand makes the result f64.
Value sized_arithmetic(BinaryOp op, Value a, Value b);
/// Any two numbers, by value: -1, 0, 1.
int compare_numbers(Value a, Value b);
bool numbers_equal(Value a, Value b);
std::string display_sized(Value v);
std::string display_single(float value);

}  // namespace spl
