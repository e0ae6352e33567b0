#include "host/compiler/literal_value.h"

#include <cstdint>
#include <utility>

#include "host/compiler/compiler.h"
#include "host/values/objects.h"
#include "host/values/sized.h"

namespace spl {

namespace {

bool negated_literal(const Expr& expr, Value& value) {
  if (!literal_value(expr, value)) {
    return false;
  }
  if (value.is_int() && value.as_int != INT64_MIN) {
    value = Value::integer(-value.as_int);
    return true;
  }
  if (value.is_float()) {
    value = Value::number(-value.as_float);
    return true;
  }
  release(std::exchange(value, Value()));
  return false;
}

}  // namespace

bool literal_value(const Expr& expr, Value& value) {
  switch (expr.kind) {
    case ExprKind::kInt:
      value = Value::integer(as<IntExpr>(expr).value);
      return as<IntExpr>(expr).suffix == kNoSymbol;
    case ExprKind::kFloat:
      value = Value::number(as<FloatExpr>(expr).value);
      return as<FloatExpr>(expr).suffix == kNoSymbol;
    case ExprKind::kBool:
      value = Value::boolean(as<BoolExpr>(expr).value);
      return true;
    case ExprKind::kNil:
      return true;
    case ExprKind::kText:
      value = make_text(as<TextExpr>(expr).value);
      return true;
    case ExprKind::kArray:
      if (!as<ArrayExpr>(expr).elements.empty()) {
        return false;
      }
      value = make_array({});  // shared: arrays are copied on write
      return true;
    case ExprKind::kUnary: {
      const auto& unary = as<UnaryExpr>(expr);
      return unary.op == UnaryOp::kNegate && negated_literal(*unary.operand, value);
    }
    default:
      return false;
  }
}

bool number_literal(const Expr& expr, Value& value) {
  if (expr.kind == ExprKind::kInt) {
    const auto& literal = as<IntExpr>(expr);
    if (suffix_type(literal.suffix) != Tag::kInt) {
      return false;
    }
    value = Value::integer(literal.value);
    return true;
  }
  if (expr.kind == ExprKind::kFloat && suffix_type(as<FloatExpr>(expr).suffix) != Tag::kFloat32) {
    value = Value::number(as<FloatExpr>(expr).value);
    return true;
  }
  return false;
}

}  // namespace spl
