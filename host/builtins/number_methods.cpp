// Methods of integers, floats and bools.
#include <algorithm>
#include <cmath>

#include "methods.h"

namespace spl {
namespace {

using Function = double (*)(double);

template <Function F>
Value real(Thread&, Value* args, int) {
  return Value::number(F(args[0].to_double()));
}

/// Integers stay integers; floats are rounded to a float.
template <Function F>
Value rounded(Thread&, Value* args, int) {
  return args[0].is_int() ? args[0] : Value::number(F(args[0].as_float));
}

double argument(Value v, const char* method) {
  if (!v.is_number()) fail(std::string(method) + " needs a number, got " + type_name(v));
  return v.to_double();
}

Value absolute(Thread&, Value* args, int) {
  if (args[0].is_float()) return Value::number(std::fabs(args[0].as_float));
  const auto bits = static_cast<uint64_t>(args[0].as_int);  // the least integer wraps to itself
  return Value::integer(args[0].as_int < 0 ? static_cast<int64_t>(0 - bits) : args[0].as_int);
}

Value smaller(Thread&, Value* args, int) {
  argument(args[1], "min");
  return compare(args[1], args[0]) < 0 ? args[1] : args[0];
}

Value greater(Thread&, Value* args, int) {
  argument(args[1], "max");
  return compare(args[1], args[0]) > 0 ? args[1] : args[0];
}

Value clamped(Thread&, Value* args, int) {
  argument(args[1], "clamp");
  argument(args[2], "clamp");
  const Value low = compare(args[0], args[1]) < 0 ? args[1] : args[0];
  return compare(low, args[2]) > 0 ? args[2] : low;
}

/// Towards zero; NaN gives 0 and what is too large the nearest integer.
Value to_int(Thread&, Value* args, int) {
  if (!args[0].is_float()) return Value::integer(args[0].as_int);
  const double x = args[0].as_float;
  if (std::isnan(x)) return Value::integer(0);
  if (x >= 0x1p63) return Value::integer(INT64_MAX);
  if (x < -0x1p63) return Value::integer(INT64_MIN);
  return Value::integer(static_cast<int64_t>(x));
}

}  // namespace

const MethodTable& number_methods() {
  static const MethodTable table = {
      {"sqrt", real<std::sqrt>, 0, 0, false},
      {"exp", real<std::exp>, 0, 0, false},
      {"ln", real<std::log>, 0, 0, false},
      {"log", real<std::log>, 0, 0, false},
      {"log2", real<std::log2>, 0, 0, false},
      {"log10", real<std::log10>, 0, 0, false},
      {"sin", real<std::sin>, 0, 0, false},
      {"cos", real<std::cos>, 0, 0, false},
      {"tan", real<std::tan>, 0, 0, false},
      {"tanh", real<std::tanh>, 0, 0, false},
      {"floor", rounded<std::floor>, 0, 0, false},
      {"ceil", rounded<std::ceil>, 0, 0, false},
      {"round", rounded<std::round>, 0, 0, false},
      {"abs", absolute, 0, 0, false},
      {"pow", [](Thread& t, Value* a, int) { return t.arithmetic(BinaryOp::kPower, a[0], a[1]); }, 1, 1, false},
      {"min", smaller, 1, 1, false},
      {"max", greater, 1, 1, false},
      {"clamp", clamped, 2, 2, false},
      {"is_nan", [](Thread&, Value* a, int) { return Value::boolean(a[0].is_float() && std::isnan(a[0].as_float)); }, 0, 0, false},
      {"to_int", to_int, 0, 0, false},
      {"to_float", [](Thread&, Value* a, int) { return Value::number(a[0].is_bool() ? double(a[0].as_bool) : a[0].to_double()); }, 0, 0, false},
      {"to_string", [](Thread&, Value* a, int) { return make_text(display(a[0])); }, 0, 0, false},
  };
  return table;
}

}  // namespace spl
