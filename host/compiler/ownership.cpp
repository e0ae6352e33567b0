// Values of type &T have one owner. Binding, assigning, passing and `move` move the value out of its
// variable; reading that variable afterwards is an error. Access through the variable (a.b, a.f()) does not
// move it.
#include "host/compiler/compiler.h"

namespace spl {

bool is_unique_type(const TypeExpr* type) {
  return type != nullptr && type->modifiers.find('&') != std::string::npos;
}

bool makes_unique(const Expr& expr) { return expr.kind == ExprKind::kNew && as<NewExpr>(expr).sigil == "&"; }

/// Whether the expression makes a &T or names a variable that holds one.
bool FunctionCompiler::is_unique(const Expr& expr) const {
  if (expr.kind == ExprKind::kUnary && as<UnaryExpr>(expr).op == UnaryOp::kMove) {
    return is_unique(*as<UnaryExpr>(expr).operand);
  }
  if (expr.kind != ExprKind::kName) {
    return makes_unique(expr);
  }
  const Symbol symbol = as<NameExpr>(expr).name;
  for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
    if (local->name == symbol) {
      return local->is_unique;
    }
  }
  return module_.uniques.contains(symbol);
}

/// A built-in function (print, len…) does not move its arguments.
bool FunctionCompiler::names_builtin(const Expr& callee) const {
  if (callee.kind != ExprKind::kName) {
    return false;
  }
  const Symbol symbol = as<NameExpr>(callee).name;
  const auto slot = module_.names.find(symbol);
  const bool own = slot != module_.names.end() && !module_.slots[slot->second].is_missing();
  return !own && !module_.imports.contains(symbol) && builtins().contains(symbol);
}

/// Called after a read of `expr`: marks the variable that it names as moved.
void FunctionCompiler::mark_moved(const Expr& expr) {
  if (expr.kind != ExprKind::kName || !is_unique(expr)) {
    return;
  }
  const Name name = resolve(as<NameExpr>(expr).name);
  const uint32_t mark = temporary_count_;
  const Register empty = temporary();
  emit(Op::kLoadConstant, empty, constant(Value::missing()));
  if (name.form == Name::Form::kLocal) {
    emit(Op::kTake, name.operand, empty);
  } else if (name.form == Name::Form::kGlobal) {
    set_global(empty, name.operand);
  }
  temporary_count_ = mark;
}

void FunctionCompiler::check_moved(const Local& local) {
  if (local.is_unique && !local.is_cell) {
    emit(Op::kCheckMoved, local.reg, cache(local.name));
  }
}

}  // namespace spl
