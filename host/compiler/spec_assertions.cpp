// Passes both operands and the operator of `expect a == b` to std.spec, so that a failure can print them.
#include "host/compiler/compiler.h"
#include "host/values/module.h"

namespace spl {

namespace {

// The operator as std.spec spells it; null if it is not a comparison.
const char* spelling_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::kEqual:
      return "==";
    case BinaryOp::kNotEqual:
      return "!=";
    case BinaryOp::kLess:
      return "<";
    case BinaryOp::kLessEqual:
      return "<=";
    case BinaryOp::kGreater:
      return ">";
    case BinaryOp::kGreaterEqual:
      return ">=";
    case BinaryOp::kIn:
      return "in";
    case BinaryOp::kNotIn:
      return "not in";
    default:
      return nullptr;
  }
}

bool is_condition(const Expr& expr) {
  if (expr.kind == ExprKind::kUnary) {
    return as<UnaryExpr>(expr).op == UnaryOp::kNot;
  }
  return expr.kind == ExprKind::kBinary && spelling_of(as<BinaryExpr>(expr).op) != nullptr;
}

}  // namespace

bool FunctionCompiler::is_spec_assertion(const CallExpr& call) {
  static const Symbol expect = intern("expect");
  if (call.callee->kind != ExprKind::kName || as<NameExpr>(*call.callee).name != expect ||
      call.args.size() != 1 || call.args[0].kind != ArgKind::kPositional ||
      !is_condition(*call.args[0].value) || find_local(expect) != nullptr) {
    return false;
  }
  const Value found = module_.lookup(expect);
  const auto* closure = found.is(Kind::kClosure) ? as_object<Closure>(found) : nullptr;
  return closure != nullptr && closure->proto->module->is_library && closure->proto->parameters.size() == 4;
}

// Calls expect(value, left, operator, right).
void FunctionCompiler::spec_assertion_to(const CallExpr& call, Register dest) {
  const Register window = temporary_of(*call.callee);
  const Register value = temporary(), left = temporary(), op = temporary(), right = temporary();
  const Expr& condition = *call.args[0].value;
  const Register first = temporary(), second = temporary();
  if (condition.kind == ExprKind::kUnary) {
    expr_to(*as<UnaryExpr>(condition).operand, left);
    emit(Op::kMove, first, left);
    span_ = condition.span;
    emit(Op::kNot, value, first);
    emit(Op::kLoadConstant, op, text_constant("not"));
    emit(Op::kLoadNil, right);
  } else {
    const auto& comparison = as<BinaryExpr>(condition);
    expr_to(*comparison.left, left);
    expr_to(*comparison.right, right);
    emit(Op::kMove, first, left);
    emit(Op::kMove, second, right);
    span_ = condition.span;
    if (comparison.op == BinaryOp::kIn || comparison.op == BinaryOp::kNotIn) {
      emit(Op::kContains, value, first, second);
      if (comparison.op == BinaryOp::kNotIn) {
        emit(Op::kNot, value, value);
      }
    } else {
      emit(Op::kArith, value, first, second);
      emit_extra(static_cast<int32_t>(comparison.op));
    }
    emit(Op::kLoadConstant, op, text_constant(spelling_of(comparison.op)));
  }
  span_ = call.span;
  emit(Op::kCall, window, 4);
  if (dest != window) {
    emit(Op::kTake, dest, window);
  }
}

}  // namespace spl
