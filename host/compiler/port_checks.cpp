// Instructions that check, while a program with PyTorch runs, whether an operation differs from Python's: a
// quotient that truncates, a remainder with another sign, a loop over pairs, remove() of a value.
// The host runs them in vm/port_checks.cpp.
#include <algorithm>

#include "host/compiler/compiler.h"
#include "host/compiler/type_names.h"

namespace spl {

namespace {

bool is_literal(const Expr& expr, ExprKind kind) {
  if (expr.kind == ExprKind::kUnary && as<UnaryExpr>(expr).op == UnaryOp::kNegate) {
    return is_literal(*as<UnaryExpr>(expr).operand, kind);
  }
  return expr.kind == kind;
}

// Whether the quotient of two literals truncates.
bool truncates(const BinaryExpr& quotient) {
  if (quotient.left->kind != ExprKind::kInt || quotient.right->kind != ExprKind::kInt) {
    return false;
  }
  const int64_t divisor = as<IntExpr>(*quotient.right).value;
  return divisor > 0 && as<IntExpr>(*quotient.left).value % divisor != 0;
}

// A lambda takes the pairs, and `d.get` stands for the keys.
bool is_key_function(const Expr& expr) {
  static const Symbol get = intern("get"), item = intern("__getitem__");
  return expr.kind == ExprKind::kLambda ||
         (expr.kind == ExprKind::kField &&
          (as<FieldExpr>(expr).name == get || as<FieldExpr>(expr).name == item));
}

}  // namespace

bool FunctionCompiler::is_port() const { return module_.uses_torch && !module_.is_library; }

// The number of a new check, or nothing where there is none.
std::optional<uint16_t> FunctionCompiler::port_check(PortCheck::Form form, const SourceSpan& span) {
  if (!is_port() || proto_->checks.size() > UINT16_MAX) {
    return std::nullopt;
  }
  PortCheck& check = proto_->checks.emplace_back();
  check.form = form;
  check.span = span;
  return static_cast<uint16_t>(proto_->checks.size() - 1);
}

// An integer is wanted here: Python's author would have written `//`, or a conversion that truncates.
void FunctionCompiler::accept_truncation(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kBinary:
      truncations_.insert(&expr);
      accept_truncation(*as<BinaryExpr>(expr).left);
      accept_truncation(*as<BinaryExpr>(expr).right);
      break;
    case ExprKind::kUnary:
      accept_truncation(*as<UnaryExpr>(expr).operand);
      break;
    case ExprKind::kSlice:
      for (const auto* part :
           {&as<SliceExpr>(expr).start, &as<SliceExpr>(expr).stop, &as<SliceExpr>(expr).step}) {
        if (*part) {
          accept_truncation(**part);
        }
      }
      break;
    default:
      break;
  }
}

// A missing key is nil here: `d[k] ?? 0`, `d[k] == nil`, `d[k].?`, `if val Some(x) = d[k]`.
void FunctionCompiler::accept_absence(const Expr& expr) {
  if (expr.kind == ExprKind::kIndex) {
    absences_.insert(&expr);
  }
}

void FunctionCompiler::accept_absence(const BinaryExpr& comparison) {
  switch (comparison.op) {
    case BinaryOp::kEqual:
    case BinaryOp::kNotEqual:
    case BinaryOp::kIs:
    case BinaryOp::kIsNot:
      break;
    default:
      return;
  }
  if (comparison.right->kind == ExprKind::kNil) {
    accept_absence(*comparison.left);
  } else if (comparison.left->kind == ExprKind::kNil) {
    accept_absence(*comparison.right);
  }
}

void FunctionCompiler::accept_truncation(const Expr& callee, const std::vector<Arg>& args) {
  static const std::unordered_set<std::string> names = {"int", "range", "i64", "i32"};
  if (callee.kind == ExprKind::kName && names.contains(name_of(as<NameExpr>(callee).name))) {
    for (const Arg& arg : args) {
      accept_truncation(*arg.value);
    }
  }
}

// torch.tensor([6 / 3]) has the dtype of its numbers, and a quotient is a float in Python.
void FunctionCompiler::note_elements(const Expr& callee, const std::vector<Arg>& args) {
  static const std::unordered_set<std::string> makers = {"tensor", "full", "as_tensor", "asarray",
                                                         "scalar_tensor"};
  const bool makes_tensor =
      callee.kind == ExprKind::kField && makers.contains(name_of(as<FieldExpr>(callee).name));
  for (const Arg& arg : args) {
    if (is_port() && makes_tensor && arg.kind == ArgKind::kPositional) {
      note_element(*arg.value);
    }
  }
}

void FunctionCompiler::note_element(const Expr& value) {
  if (value.kind == ExprKind::kBinary && as<BinaryExpr>(value).op == BinaryOp::kDivide) {
    elements_.insert(&value);
  } else if (value.kind == ExprKind::kArray) {
    for (const Element& element : as<ArrayExpr>(value).elements) {
      note_element(*element.value);
    }
  } else if (value.kind == ExprKind::kTuple) {
    for (const auto& element : as<TupleExpr>(value).elements) {
      note_element(*element);
    }
  }
}

// print(6 / 3) shows 2, where Python shows 2.0.
void FunctionCompiler::note_shown(const Expr& value) {
  if (!is_port()) {
    return;
  }
  if (value.kind == ExprKind::kBinary) {
    const auto& operation = as<BinaryExpr>(value);
    switch (operation.op) {
      case BinaryOp::kDivide:
        shown_.insert(&value);
        break;
      case BinaryOp::kAdd:
      case BinaryOp::kSubtract:
      case BinaryOp::kMultiply:
        note_shown(*operation.left);
        note_shown(*operation.right);
        break;
      default:
        break;
    }
  } else if (value.kind == ExprKind::kArray) {
    for (const Element& element : as<ArrayExpr>(value).elements) {
      note_shown(*element.value);
    }
  } else if (value.kind == ExprKind::kTuple) {
    for (const auto& element : as<TupleExpr>(value).elements) {
      note_shown(*element);
    }
  }
}

// `share = a / b`, and print(share) elsewhere in the function.
void FunctionCompiler::note_shown(const Expr& target, const Expr& value) {
  if (target.kind == ExprKind::kName && uses_.shown.contains(as<NameExpr>(target).name)) {
    note_shown(value);
  }
}

void FunctionCompiler::accept_truncation(const BindStmt& stmt) {
  if (stmt.value && stmt.type && stmt.type->kind == TypeKind::kName && stmt.type->path.size() == 1 &&
      is_integer_type(builtin_type(name_of(stmt.type->path[0])))) {
    accept_truncation(*stmt.value);
  }
}

// `divisor` is missing unless it is a constant.
void FunctionCompiler::check_division(const BinaryExpr& expr, Register left, Register right, Value divisor) {
  const bool is_quotient = expr.op == BinaryOp::kDivide;
  if ((!is_quotient && expr.op != BinaryOp::kRemainder) || (is_quotient && truncations_.contains(&expr))) {
    return;
  }
  for (const auto* side : {&expr.left, &expr.right}) {
    if ((is_quotient && is_literal(**side, ExprKind::kFloat)) || is_literal(**side, ExprKind::kText) ||
        (*side)->kind == ExprKind::kInterpolation) {
      return;
    }
  }
  const bool is_element = elements_.contains(&expr);
  const bool warned_before =
      is_literal(*expr.left, ExprKind::kInt) && is_literal(*expr.right, ExprKind::kInt);
  const bool is_shown = shown_.contains(&expr) && !truncates(expr);
  if (is_quotient && warned_before && !is_element && !is_shown) {
    return;
  }
  const auto form = is_shown      ? PortCheck::Form::kShown
                    : is_element  ? PortCheck::Form::kElement
                    : is_quotient ? PortCheck::Form::kQuotient
                                  : PortCheck::Form::kRemainder;
  emit_division_check(form, expr.span, left, right, divisor);
}

void FunctionCompiler::check_division(BinaryOp op, const SourceSpan& span, Register left, Register right,
                                      Value divisor) {
  if (op != BinaryOp::kDivide && op != BinaryOp::kRemainder) {
    return;
  }
  const auto form = op == BinaryOp::kDivide ? PortCheck::Form::kQuotient : PortCheck::Form::kRemainder;
  emit_division_check(form, span, left, right, divisor);
}

void FunctionCompiler::emit_division_check(PortCheck::Form form, const SourceSpan& span, Register left,
                                           Register right, Value divisor) {
  if (const auto check = port_check(form, span)) {
    proto_->checks[*check].divisor = divisor;
    emit(Op::kCheckOperands, *check, left, right);
  }
}

// Before `a is b`: arrays, tuples and dicts are values, of which Python has different objects.
void FunctionCompiler::check_identity(const SourceSpan& span, Register left, Register right) {
  if (const auto check = port_check(PortCheck::Form::kIdentity, span)) {
    proto_->checks[*check].divisor = Value::missing();
    emit(Op::kCheckOperands, *check, left, right);
  }
}

// Before a test of `[a, b]` or `(a, b)`: Python's patterns match lists and tuples alike.
void FunctionCompiler::check_sequence(const Pattern& pattern, size_t count, Register value) {
  static const Symbol array = intern("array"), tuple = intern("tuple");
  if (const auto check = port_check(PortCheck::Form::kSequence, pattern.span)) {
    proto_->checks[*check].divisor = Value::integer(static_cast<int64_t>(count));
    proto_->checks[*check].name = pattern.kind == PatternKind::kArray ? array : tuple;
    emit(Op::kCheckValue, value, *check);
  }
}

// `a.bump` is a call here, and the bound method in Python.
void FunctionCompiler::check_method_value(const FieldExpr& expr, Register object) {
  if (!module_.plain_methods.contains(expr.name)) {
    return;
  }
  if (const auto check = port_check(PortCheck::Form::kMethod, expr.span)) {
    proto_->checks[*check].name = expr.name;
    emit(Op::kCheckValue, object, *check);
  }
}

// Before a loop with one variable: Python's loop over a dict visits its keys.
void FunctionCompiler::check_pairs(const Pattern& pattern, const PatternPtr& second, Register iterable) {
  if (pattern.kind != PatternKind::kBinding || second ||
      uses_.taken_apart.contains(as<BindingPattern>(pattern).name)) {
    return;
  }
  if (const auto check = port_check(PortCheck::Form::kPairs, pattern.span)) {
    proto_->checks[*check].name = as<BindingPattern>(pattern).name;
    emit(Op::kCheckValue, iterable, *check);
  }
}

// `pairs = zip(xs, ys)`: what Python's function returns can be visited once. Where the call is visited at
// once, as in `for x, y in zip(xs, ys)`, its array serves as well.
bool FunctionCompiler::is_one_pass(const Expr& value) {
  static const std::unordered_set<std::string> makers = {"zip", "map", "filter", "enumerate", "reversed"};
  return is_port() && value.kind == ExprKind::kCall && as<CallExpr>(value).callee->kind == ExprKind::kName &&
         makers.contains(name_of(as<NameExpr>(*as<CallExpr>(value).callee).name)) &&
         names_builtin(*as<CallExpr>(value).callee);
}

Register FunctionCompiler::iterator_of(const Expr& value) {
  static const Symbol iter = intern("iter");
  const Register window = temporaries(2);
  emit(Op::kLoadConstant, window, constant(retained(builtins().at(iter))));
  expr_to(value, static_cast<Register>(window + 1));
  emit(Op::kCall, window, 1);
  return window;
}

// Before a call of a function that visits the elements of its arguments, which begin at the register.
void FunctionCompiler::check_visited(const Expr& callee, const std::vector<Arg>& args, Register first) {
  static const std::unordered_set<std::string> builtins = {"list", "tuple",    "set", "sorted",
                                                           "max",  "min",      "zip", "enumerate",
                                                           "iter", "reversed", "map", "filter"};
  static const std::unordered_set<std::string> of_itertools = {"chain",   "islice",       "cycle",
                                                               "product", "permutations", "combinations"};
  if (callee.kind != ExprKind::kName || args.empty()) {
    return;
  }
  const std::string& name = name_of(as<NameExpr>(callee).name);
  const bool visits = of_itertools.contains(name) || (builtins.contains(name) && names_builtin(callee));
  const bool takes_pairs =
      std::any_of(args.begin(), args.end(), [](const Arg& arg) { return is_key_function(*arg.value); });
  for (size_t i = 0; visits && !takes_pairs && i < args.size(); ++i) {
    if (args[i].kind == ArgKind::kPositional) {
      check_visited(as<NameExpr>(callee).name, callee.span, static_cast<Register>(first + i));
    }
  }
}

void FunctionCompiler::check_visited(Symbol what, const SourceSpan& span, Register value) {
  if (const auto check = port_check(PortCheck::Form::kVisited, span)) {
    proto_->checks[*check].name = what;
    emit(Op::kCheckValue, value, *check);
  }
}

// Before xs.remove(i), which in Python removes a value.
void FunctionCompiler::check_removal(const FieldExpr& callee, const std::vector<Arg>& args, size_t path,
                                     Register argument) {
  static const Symbol remove = intern("remove");
  if (callee.name != remove || args.size() != 1 || !simple_arguments(args)) {
    return;
  }
  if (const auto check = port_check(PortCheck::Form::kRemoval, callee.span)) {
    proto_->checks[*check].divisor = Value::missing();
    const uint32_t mark = temporary_count_;
    const Register array = temporary();
    emit_wide(Op::kGetLvalue, array, static_cast<int32_t>(path));
    emit(Op::kCheckOperands, *check, array, argument);
    emit(Op::kRelease, array);
    temporary_count_ = mark;
  }
}

// Before a method changes the result of a call, in `value`.
void FunctionCompiler::check_result_change(const FieldExpr& callee, Register value) {
  const Expr& object = *callee.object;
  const bool chooses = object.kind == ExprKind::kIf || object.kind == ExprKind::kBinary;
  if (!mutating_names().contains(callee.name) || !(chooses || object.kind == ExprKind::kCall)) {
    return;
  }
  if (const auto check = port_check(PortCheck::Form::kResult, callee.span)) {
    proto_->checks[*check].name = callee.name;
    emit(Op::kCheckValue, value, *check);
  }
}

}  // namespace spl
