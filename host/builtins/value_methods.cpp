// Methods of numbers, bools, Option, Result and functions.
#include <cmath>
#include <unordered_map>

#include "host/builtins/builtins.h"
#include "host/syntax/utf8.h"
#include "host/values/sized.h"
#include "host/values/spelling_suggester.h"
#include "host/vm/failure.h"
#include "host/vm/thread.h"
#include "host/vm/threads.h"

namespace spl {

namespace {

template <double (*Function)(double)>
Value math(Thread&, Value* args, int) {
  return Value::number(Function(to_number(args[0])));
}
template <double (*Function)(double)>
Value rounding(Thread&, Value* args, int) {
  return args[0].is_float() ? Value::number(Function(args[0].as_float)) : args[0];
}
Value round_to(Thread&, Value* args, int count) {
  if (count == 1) {
    return args[0].is_float() ? Value::number(std::round(args[0].as_float)) : args[0];
  }
  const double scale = std::pow(10.0, to_number(args[1]));
  return Value::number(std::round(to_number(args[0]) * scale) / scale);
}
Value power(Thread& thread, Value* args, int) {
  return thread.arithmetic(BinaryOp::kPower, args[0], args[1]);
}
Value absolute(Thread&, Value* args, int) {
  if (args[0].is_sized()) {
    return absolute_sized(args[0]);
  }
  if (args[0].is_int()) {
    return Value::integer(args[0].as_int < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(args[0].as_int))
                                             : args[0].as_int);
  }
  return Value::number(std::fabs(to_number(args[0])));
}
Value to_int(Thread&, Value* args, int) {
  const Value number = plain(args[0]);
  const bool is_lost = number.is_float() && !(number.as_float >= -9223372036854775808.0 &&
                                              number.as_float < 9223372036854775808.0);
  if (is_lost) {
    fail_value("to_int: " + display(args[0]) + " does not fit into 64 bits");
  }
  return Value::integer(to_integer(args[0]));
}
Value to_float(Thread&, Value* args, int) { return Value::number(to_number(args[0])); }
template <Tag Type>
Value to_sized(Thread&, Value* args, int) {
  return cast_to(Type, args[0]);
}
Value to_char(Thread&, Value* args, int) {
  const int64_t code = to_integer(args[0]);
  if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    fail("to_char: not a code point, got " + std::to_string(code));
  }
  std::string character;
  append_utf8(character, static_cast<uint32_t>(code));
  return make_text(std::move(character));
}
Value itself(Thread&, Value* args, int) { return retained(args[0]); }
Value shown_text(Thread&, Value* args, int) { return make_text(display(args[0])); }
Value least(Thread&, Value* args, int) { return compare(args[1], args[0]) < 0 ? args[1] : args[0]; }
Value greatest(Thread&, Value* args, int) { return compare(args[1], args[0]) > 0 ? args[1] : args[0]; }
Value clamp(Thread&, Value* args, int) {
  if (compare(args[0], args[1]) < 0) {
    return args[1];
  }
  return compare(args[0], args[2]) > 0 ? args[2] : args[0];
}
Value is_nan(Thread&, Value* args, int) { return Value::boolean(std::isnan(to_number(args[0]))); }
Value is_infinite(Thread&, Value* args, int) { return Value::boolean(std::isinf(to_number(args[0]))); }
Value is_integer(Thread&, Value* args, int) {
  const double number = to_number(args[0]);
  return Value::boolean(std::isfinite(number) && std::trunc(number) == number);
}
// -1, 0 or 1, as a number of the same type.
Value sign(Thread& thread, Value* args, int) {
  if (std::isnan(to_number(args[0]))) {
    return args[0];
  }
  const Value zero = thread.arithmetic(BinaryOp::kSubtract, args[0], args[0]);
  const int order = compare(args[0], Value::integer(0));
  return order == 0 ? zero : thread.arithmetic(BinaryOp::kAdd, zero, Value::integer(order));
}
Value is_positive(Thread&, Value* args, int) {
  return Value::boolean(compare(args[0], Value::integer(0)) > 0);
}
Value is_negative(Thread&, Value* args, int) {
  return Value::boolean(compare(args[0], Value::integer(0)) < 0);
}
Value is_zero(Thread&, Value* args, int) { return Value::boolean(equals(args[0], Value::integer(0))); }
double fraction_of(double value) { return value - std::trunc(value); }
constexpr double kDegrees = 180.0 / 3.141592653589793238462643;
double degrees_of(double radians) { return radians * kDegrees; }
double radians_of(double degrees) { return degrees / kDegrees; }
template <double (*Function)(double, double)>
Value math_of_two(Thread&, Value* args, int) {
  return Value::number(Function(to_number(args[0]), to_number(args[1])));
}
Value is_finite(Thread&, Value* args, int) { return Value::boolean(std::isfinite(to_number(args[0]))); }

const NativeEntry kNumbers[] = {
    {"sqrt", math<std::sqrt>, 1, 1},
    {"exp", math<std::exp>, 1, 1},
    {"log", math<std::log>, 1, 1},
    {"ln", math<std::log>, 1, 1},
    {"log2", math<std::log2>, 1, 1},
    {"log10", math<std::log10>, 1, 1},
    {"sin", math<std::sin>, 1, 1},
    {"cos", math<std::cos>, 1, 1},
    {"tan", math<std::tan>, 1, 1},
    {"asin", math<std::asin>, 1, 1},
    {"acos", math<std::acos>, 1, 1},
    {"atan", math<std::atan>, 1, 1},
    {"tanh", math<std::tanh>, 1, 1},
    {"floor", rounding<std::floor>, 1, 1},
    {"ceil", rounding<std::ceil>, 1, 1},
    {"trunc", rounding<std::trunc>, 1, 1},
    {"round", round_to, 1, 2},
    {"pow", power, 2, 2},
    {"abs", absolute, 1, 1},
    {"to_int", to_int, 1, 1},
    {"to_i64", to_int, 1, 1},
    {"to_u8", to_sized<Tag::kUint8>, 1, 1},
    {"to_u16", to_sized<Tag::kUint16>, 1, 1},
    {"to_u32", to_sized<Tag::kUint32>, 1, 1},
    {"to_u64", to_sized<Tag::kUint64>, 1, 1},
    {"to_usize", to_sized<Tag::kUint64>, 1, 1},
    {"to_i8", to_sized<Tag::kInt8>, 1, 1},
    {"to_i16", to_sized<Tag::kInt16>, 1, 1},
    {"to_i32", to_sized<Tag::kInt32>, 1, 1},
    {"to_f32", to_sized<Tag::kFloat32>, 1, 1},
    {"to_char", to_char, 1, 1},
    {"chr", to_char, 1, 1},
    {"clone", itself, 1, 1},
    {"to_float", to_float, 1, 1},
    {"to_f64", to_float, 1, 1},
    {"to_string", shown_text, 1, 1},
    {"to_text", shown_text, 1, 1},
    {"min", least, 2, 2},
    {"max", greatest, 2, 2},
    {"clamp", clamp, 3, 3},
    {"is_nan", is_nan, 1, 1},
    {"is_finite", is_finite, 1, 1},
    {"is_infinite", is_infinite, 1, 1},
    {"is_integer", is_integer, 1, 1},
    {"sign", sign, 1, 1},
    {"signum", sign, 1, 1},
    {"is_positive", is_positive, 1, 1},
    {"is_negative", is_negative, 1, 1},
    {"is_zero", is_zero, 1, 1},
    {"truncate", to_int, 1, 1},
    {"fract", math<fraction_of>, 1, 1},
    {"cbrt", math<std::cbrt>, 1, 1},
    {"exp2", math<std::exp2>, 1, 1},
    {"sinh", math<std::sinh>, 1, 1},
    {"cosh", math<std::cosh>, 1, 1},
    {"powf", math_of_two<std::pow>, 2, 2},
    {"powi", math_of_two<std::pow>, 2, 2},
    {"atan2", math_of_two<std::atan2>, 2, 2},
    {"hypot", math_of_two<std::hypot>, 2, 2},
    {"to_degrees", math<degrees_of>, 1, 1},
    {"to_radians", math<radians_of>, 1, 1},
    {"round_to", round_to, 2, 2},
};

// ---- Option and Result; a plain value is Some, nil is None -----------------------------------------------

EnumValue* result_of(Value v) {
  return v.is(Kind::kEnumValue) && as_object<EnumValue>(v)->type == core_types().result
             ? as_object<EnumValue>(v)
             : nullptr;
}
bool is_err(Value v) { return result_of(v) != nullptr && result_of(v)->variant == kErr; }
bool is_there(Value v) { return !is_none(v) && !is_err(v); }
Value payload_of(Value v) {
  const bool wrapped = v.is(Kind::kEnumValue) && (as_object<EnumValue>(v)->type == core_types().result ||
                                                  as_object<EnumValue>(v)->type == core_types().option);
  return wrapped ? as_object<EnumValue>(v)->payload()[0] : v;
}
Value wrapped_like(Value like, Value owned) {
  return result_of(like) != nullptr ? make_ok(owned) : make_some(owned);
}

Value is_ok_fn(Thread&, Value* args, int) { return Value::boolean(is_there(args[0])); }
Value is_err_fn(Thread&, Value* args, int) { return Value::boolean(is_err(args[0])); }
Value is_none_fn(Thread&, Value* args, int) { return Value::boolean(is_none(args[0])); }
Value unwrap(Thread& thread, Value* args, int) {
  if (is_err(args[0])) {
    panic_with(thread, payload_of(args[0]));
  }
  if (is_none(args[0])) {
    fail("unwrap() of None");
  }
  return retained(payload_of(args[0]));
}
Value expect(Thread& thread, Value* args, int count) {
  if (is_there(args[0])) {
    return retained(payload_of(args[0]));
  }
  fail(display(args[1]) + (is_err(args[0]) ? ": " + display(payload_of(args[0])) : ""));
  (void)thread;
  (void)count;
}
Value unwrap_err(Thread&, Value* args, int) {
  if (!is_err(args[0])) {
    fail("unwrap_err() of " + display(args[0]));
  }
  return retained(payload_of(args[0]));
}
Value unwrap_or(Thread&, Value* args, int) {
  return retained(is_there(args[0]) ? payload_of(args[0]) : args[1]);
}
Value unwrap_or_else(Thread& thread, Value* args, int) {
  if (is_there(args[0])) {
    return retained(payload_of(args[0]));
  }
  const Value problem = payload_of(args[0]);
  return is_err(args[0]) ? thread.call(args[1], &problem, 1) : thread.call(args[1], nullptr, 0);
}
Value map_payload(Thread& thread, Value* args, int) {
  if (!is_there(args[0])) {
    return retained(args[0]);
  }
  const Value inner = payload_of(args[0]);
  return wrapped_like(args[0], thread.call(args[1], &inner, 1));
}
Value map_err(Thread& thread, Value* args, int) {
  if (!is_err(args[0])) {
    return retained(args[0]);
  }
  const Value inner = payload_of(args[0]);
  return make_err(thread.call(args[1], &inner, 1));
}
Value and_then(Thread& thread, Value* args, int) {
  if (!is_there(args[0])) {
    return retained(args[0]);
  }
  const Value inner = payload_of(args[0]);
  return thread.call(args[1], &inner, 1);
}
Value or_else(Thread& thread, Value* args, int) {
  if (is_there(args[0])) {
    return retained(args[0]);
  }
  const Value inner = payload_of(args[0]);
  return is_err(args[0]) ? thread.call(args[1], &inner, 1) : thread.call(args[1], nullptr, 0);
}
Value ok(Thread&, Value* args, int) {
  return is_there(args[0]) ? make_some(retained(payload_of(args[0]))) : make_none();
}
Value err(Thread&, Value* args, int) {
  return is_err(args[0]) ? make_some(retained(payload_of(args[0]))) : make_none();
}

const NativeEntry kOptions[] = {
    {"is_ok", is_ok_fn, 1, 1},
    {"is_some", is_ok_fn, 1, 1},
    {"is_err", is_err_fn, 1, 1},
    {"is_none", is_none_fn, 1, 1},
    {"unwrap", unwrap, 1, 1},
    {"expect", expect, 2, 2},
    {"unwrap_err", unwrap_err, 1, 1},
    {"unwrap_or", unwrap_or, 2, 2},
    {"unwrap_or_else", unwrap_or_else, 2, 2},
    {"map", map_payload, 2, 2},
    {"map_err", map_err, 2, 2},
    {"and_then", and_then, 2, 2},
    {"or_else", or_else, 2, 2},
    {"ok", ok, 1, 1},
    {"err", err, 1, 1},
};

// A new object with the same fields; other values, which do not change, are their own copies.
Value clone_of(Thread&, Value* args, int) {
  if (!args[0].is(Kind::kInstance)) {
    return retained(args[0]);
  }
  auto* instance = as_object<Instance>(args[0]);
  if (instance->record->drop != nullptr || instance->record->direct != nullptr) {
    fail("clone: " + type_name(args[0]) + " owns a resource and cannot be copied");
  }
  Instance* copy = new_instance(instance->record);
  for (size_t i = 0; i < instance->record->slot_count(); ++i) {
    copy->fields()[i] = retained(instance->fields()[i]);
  }
  return Value::object(copy);
}

// Methods of every value, unless its type overrides them.
const NativeEntry kGeneral[] = {
    {"clone", clone_of, 1, 1}, {"to_string", shown_text, 1, 1}, {"to_text", shown_text, 1, 1}};

Value call_function(Thread& thread, Value* args, int count) {
  return thread.call(args[0], args + 1, count - 1);
}
const NativeEntry kFunctions[] = {{"call", call_function, 1, -1}};

}  // namespace

void install_value_methods() {
  add_number_methods(kNumbers);
  add_option_methods(kOptions);
  add_option_methods(kGeneral);
  for (const Kind kind : {Kind::kClosure, Kind::kNative, Kind::kExtern, Kind::kBoundMethod}) {
    add_methods(kind, kFunctions);
  }
}

}  // namespace spl
