// Binary operators, comparisons, conditions, if and match.
#include "host/compiler/compiler.h"
#include "host/compiler/literal_value.h"
#include "host/compiler/type_names.h"
#include "host/values/sized.h"

namespace spl {

namespace {

const Op kConstantForm[] = {Op::kAddK, Op::kSubtractK, Op::kMultiplyK, Op::kDivideK, Op::kRemainderK};

// The index of a specialized instruction, or -1 for an operator that uses the general one.
int arithmetic_index(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return 0;
    case BinaryOp::kSubtract:
      return 1;
    case BinaryOp::kMultiply:
      return 2;
    case BinaryOp::kDivide:
      return 3;
    case BinaryOp::kRemainder:
      return 4;
    default:
      return -1;
  }
}
int comparison_index(BinaryOp op) {
  switch (op) {
    case BinaryOp::kLess:
      return 0;
    case BinaryOp::kLessEqual:
      return 1;
    case BinaryOp::kGreater:
      return 2;
    case BinaryOp::kGreaterEqual:
      return 3;
    case BinaryOp::kEqual:
      return 4;
    case BinaryOp::kNotEqual:
      return 5;
    default:
      return -1;
  }
}
Op nth(Op first, int index) { return static_cast<Op>(static_cast<int>(first) + index); }

}  // namespace

void FunctionCompiler::compile(const BinaryExpr& expr, Register dest) {
  if (is_mixed_chain(expr)) {
    mixed_chain_to(expr, dest);
    return;
  }
  switch (expr.op) {
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
    case BinaryOp::kCoalesce:
      logic_to(expr, dest);
      return;
    default:
      break;
  }
  check_search_result(expr);
  accept_absence(expr);
  check_literal_division(expr);
  check_negative_base(expr);
  check_print_operand(*expr.left, expr.span);
  if ((expr.op == BinaryOp::kIs || expr.op == BinaryOp::kIsNot) && type_test_to(expr, dest)) {
    return;
  }
  const bool compares = comparison_index(expr.op) >= 0;
  const Register left = compares ? compared_operand(*expr.left, *expr.right) : operand(*expr.left);
  Value number;
  const int arithmetic = arithmetic_index(expr.op);
  if (arithmetic >= 0 && number_literal(*expr.right, number)) {
    span_ = expr.span;
    check_division(expr, left, left, number);
    emit(kConstantForm[arithmetic], dest, left, constant(number));
    return;
  }
  const Register right = compares ? compared_operand(*expr.right, *expr.left) : operand(*expr.right);
  span_ = expr.span;
  check_division(expr, left, right, Value::missing());
  if (arithmetic >= 0) {
    emit(nth(Op::kAdd, arithmetic), dest, left, right);
    return;
  }
  if (const int comparison = comparison_index(expr.op); comparison >= 0) {
    emit(nth(Op::kLess, comparison), dest, left, right);
    return;
  }
  switch (expr.op) {
    case BinaryOp::kIs:
    case BinaryOp::kIsNot:
      check_identity(expr.span, left, right);
      [[fallthrough]];
    case BinaryOp::kIn:
    case BinaryOp::kNotIn:
      compare_to(expr.op, dest, left, right);
      break;
    default:
      emit(Op::kArith, dest, left, right);
      emit_extra(static_cast<int32_t>(expr.op));
  }
}

// `x is i64`: a built-in type, unless the program defines the name.
bool FunctionCompiler::type_test_to(const BinaryExpr& expr, Register dest) {
  if (expr.right->kind != ExprKind::kName) {
    return false;
  }
  const Symbol name = as<NameExpr>(*expr.right).name;
  const std::string_view type = builtin_type(name_of(name));
  const auto own = module_.names.find(name);
  const bool is_defined = find_local(name) != nullptr || captured_local(name) != nullptr ||
                          module_.imports.contains(name) || module_.binds(name) ||
                          (own != module_.names.end() && !module_.slots[own->second].is_missing());
  if (type.empty() || is_defined) {
    return false;
  }
  const Register left = operand(*expr.left);
  const Register matches = temporary();
  span_ = expr.span;
  emit(Op::kTestType, matches, left, cache(intern(type)));
  release_temporary(left);
  if (expr.op == BinaryOp::kIsNot) {
    emit(Op::kNot, matches, matches);
  }
  emit(Op::kTake, dest, matches);
  return true;
}

void FunctionCompiler::logic_to(const BinaryExpr& expr, Register dest) {
  const Register result = temporary();
  if (expr.op == BinaryOp::kCoalesce) {
    accept_absence(*expr.left);
  }
  expr_to(*expr.left, result);
  if (expr.op == BinaryOp::kCoalesce) {
    emit(Op::kCoalesce, result, result);
    const size_t present = here();
    emit_extra(0);
    expr_to(*expr.right, result);
    patch(present);
  } else {
    // The jump consumes its operand, so it tests a copy: the left value may be the result.
    const Register tested = temporary();
    emit(Op::kMove, tested, result);
    const size_t short_circuit = emit_jump(expr.op == BinaryOp::kAnd ? Op::kJumpIfNot : Op::kJumpIf, tested);
    expr_to(*expr.right, result);
    patch(short_circuit);
  }
  emit(Op::kTake, dest, result);
}

namespace {

void add_operands(const Expr& expr, bool compares, BinaryOp op, std::vector<ChainLink>& links) {
  if (compares && expr.kind == ExprKind::kBinary) {
    const auto& pair = as<BinaryExpr>(expr);
    add_operands(*pair.left, pair.left_compares, op, links);
    add_operands(*pair.right, pair.right_compares, pair.op, links);
  } else if (compares && expr.kind == ExprKind::kCompare) {
    const auto& chain = as<CompareExpr>(expr);
    links.push_back({op, chain.first.get()});
    for (const CompareLink& link : chain.links) {
      links.push_back({link.op, link.right.get()});
    }
  } else {
    links.push_back({op, &expr});
  }
}

}  // namespace

// Whether the expression compares a comparison, as in `a < b == c` and `a == b in c`. Python compares each
// operand with the next; so does a program with PyTorch.
bool FunctionCompiler::is_mixed_chain(const BinaryExpr& expr) const {
  return (expr.left_compares || expr.right_compares) && is_port();
}

void FunctionCompiler::mixed_chain_to(const BinaryExpr& expr, Register dest) {
  std::vector<ChainLink> links;
  add_operands(*expr.left, expr.left_compares, expr.op, links);
  add_operands(*expr.right, expr.right_compares, expr.op, links);
  const Expr& first = *links.front().right;
  links.erase(links.begin());
  chain_to(first, links, dest);
}

void FunctionCompiler::compile(const CompareExpr& expr, Register dest) {
  std::vector<ChainLink> links;
  for (const CompareLink& link : expr.links) {
    links.push_back({link.op, link.right.get()});
  }
  chain_to(*expr.first, links, dest);
}

void FunctionCompiler::compare_to(BinaryOp op, Register dest, Register left, Register right) {
  if (const int comparison = comparison_index(op); comparison >= 0) {
    emit(nth(Op::kLess, comparison), dest, left, right);
    return;
  }
  const bool is_identity = op == BinaryOp::kIs || op == BinaryOp::kIsNot;
  emit(is_identity ? Op::kIs : Op::kContains, dest, left, right);
  if (op == BinaryOp::kNotIn || op == BinaryOp::kIsNot) {
    emit(Op::kNot, dest, dest);
  }
}

void FunctionCompiler::chain_to(const Expr& first, const std::vector<ChainLink>& links, Register dest) {
  const Register result = temporary();
  Register left = temporary_of(first);
  std::vector<size_t> ends;
  for (size_t i = 0; i < links.size(); ++i) {
    const Register right = temporary_of(*links[i].right);
    const Register next_left = temporary();
    emit(Op::kMove, next_left, right);
    compare_to(links[i].op, result, left, right);
    left = next_left;
    if (i + 1 < links.size()) {
      const Register tested = temporary();
      emit(Op::kMove, tested, result);
      ends.push_back(emit_jump(Op::kJumpIfNot, tested));
    }
  }
  patch_all(ends);
  emit(Op::kRelease, left);
  emit(Op::kTake, dest, result);
}

// The constant with which an operand is compared, if it is a number or a text.
std::optional<uint16_t> FunctionCompiler::compared_constant(const Expr& expr) {
  if (Value number; number_literal(expr, number)) {
    return constant(number);
  }
  if (expr.kind != ExprKind::kText) {
    return std::nullopt;
  }
  return text_constant(as<TextExpr>(expr).value);
}

std::vector<size_t> FunctionCompiler::jump_if_false(const Expr& expr) {
  const uint32_t mark = temporary_count_;
  std::vector<size_t> jumps;
  if (expr.kind == ExprKind::kBinary) {
    const auto& binary = as<BinaryExpr>(expr);
    if (binary.op == BinaryOp::kAnd) {
      jumps = jump_if_false(*binary.left);
      const auto more = jump_if_false(*binary.right);
      jumps.insert(jumps.end(), more.begin(), more.end());
      return jumps;
    }
    if (binary.op == BinaryOp::kOr) {
      const auto left = jump_if_false(*binary.left);
      const size_t holds = emit_jump(Op::kJump);
      patch_all(left);
      jumps = jump_if_false(*binary.right);
      patch(holds);
      return jumps;
    }
    if (const int comparison = comparison_index(binary.op); comparison >= 0 && !is_mixed_chain(binary)) {
      check_search_result(binary);
      accept_absence(binary);
      const Register left = compared_operand(*binary.left, *binary.right);
      if (const auto literal = compared_constant(*binary.right)) {
        span_ = expr.span;
        emit(nth(Op::kJumpUnlessLessK, comparison), 0, left, *literal);
      } else {
        const Register right = compared_operand(*binary.right, *binary.left);
        span_ = expr.span;
        emit(nth(Op::kJumpUnlessLess, comparison), 0, left, right);
      }
      jumps.push_back(here());
      emit_extra(0);
      temporary_count_ = mark;
      return jumps;
    }
  }
  const bool negated = expr.kind == ExprKind::kUnary && as<UnaryExpr>(expr).op == UnaryOp::kNot;
  const Register value = operand(negated ? *as<UnaryExpr>(expr).operand : expr);
  jumps.push_back(emit_jump(negated ? Op::kJumpIf : Op::kJumpIfNot, value));
  temporary_count_ = mark;
  return jumps;
}

std::vector<size_t> FunctionCompiler::condition(const Condition& condition) {
  if (condition.kind == ConditionKind::kTest) {
    return jump_if_false(*condition.value);
  }
  std::vector<size_t> failures;
  const uint32_t mark = temporary_count_;
  const Register subject = hidden();
  accept_absence(*condition.value);
  expr_to(*condition.value, subject);
  if (condition.kind == ConditionKind::kPresent) {
    const Register present = temporary();
    emit(Op::kTestPresent, present, subject);
    failures.push_back(emit_jump(Op::kJumpIfNot, present));
    const Register payload = temporary();
    emit(Op::kUnwrap, payload, subject);
    bind_pattern(*condition.pattern, payload);
  } else {
    test_pattern(*condition.pattern, subject, failures);
  }
  temporary_count_ = mark;
  return failures;
}

void FunctionCompiler::compile(const IfExpr& expr, Register dest) { if_to(expr, dest, true); }

void FunctionCompiler::compile(const MatchExpr& expr, Register dest) { match_to(expr, dest, true); }

void FunctionCompiler::if_to(const IfExpr& expr, Register dest, bool needs_value) {
  std::vector<size_t> ends;
  for (size_t i = 0; i < expr.clauses.size(); ++i) {
    const IfClause& clause = expr.clauses[i];
    open_scope();
    span_ = clause.span;
    const auto failures = condition(clause.condition);
    if (needs_value) {
      block_to(clause.body, dest);
    } else {
      block(clause.body);
    }
    close_scope();
    if (i + 1 < expr.clauses.size() || expr.otherwise || needs_value) {
      ends.push_back(emit_jump(Op::kJump));
    }
    patch_all(failures);
  }
  if (expr.otherwise && needs_value) {
    block_to(*expr.otherwise, dest);
  } else if (expr.otherwise) {
    block(*expr.otherwise);
  } else if (needs_value) {
    emit(Op::kLoadNil, dest);
  }
  patch_all(ends);
}

void FunctionCompiler::match_to(const MatchExpr& expr, Register dest, bool needs_value) {
  check_arms(expr);
  accept_absence(*expr.subject);
  open_scope();
  const Register subject = hidden();
  expr_to(*expr.subject, subject);
  std::vector<size_t> ends;
  for (const MatchArm& arm : expr.arms) {
    open_scope();
    span_ = arm.span;
    std::vector<size_t> failures;
    test_pattern(*arm.pattern, subject, failures);
    if (arm.guard) {
      const auto guard_failures = jump_if_false(*arm.guard);
      failures.insert(failures.end(), guard_failures.begin(), guard_failures.end());
    }
    if (needs_value) {
      block_to(arm.body, dest);
    } else {
      block(arm.body);
    }
    close_scope();
    ends.push_back(emit_jump(Op::kJump));
    patch_all(failures);
  }
  if (needs_value) {
    emit(Op::kLoadNil, dest);
  }
  patch_all(ends);
  emit(Op::kLoadNil, subject);
  close_scope();
}

}  // namespace spl
