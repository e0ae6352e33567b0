// Operators, by precedence climbing. In order of increasing precedence: |>, or, and, not, equality, order,
// ranges, |, xor (^), &, shifts, sums, products (with @), **, prefixes.
#include "host/syntax/parser.h"

namespace spl {

enum : int {
  kOr = 1,
  kAnd,
  kNot,
  kEquality,
  kOrder,
  kRange,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct
};

/// A binary operator at the current position; level 0: none.
struct Parser::Operator {
  int level = 0;
  BinaryOp op = BinaryOp::kAdd;
  int tokens = 1;
};

Parser::Operator Parser::operator_here() const {
  switch (kind_) {
    case Tok::kOr:
    case Tok::kPipePipe:
      return {kOr, BinaryOp::kOr};
    case Tok::kAnd:
    case Tok::kAndAnd:
      return {kAnd, BinaryOp::kAnd};
    case Tok::kEqual:
      return {kEquality, BinaryOp::kEqual};
    case Tok::kNotEqual:
      return {kEquality, BinaryOp::kNotEqual};
    case Tok::kIn:
      return {kEquality, BinaryOp::kIn};
    case Tok::kIs:
      return ahead().kind == Tok::kNot ? Operator{kEquality, BinaryOp::kIsNot, 2}
                                       : Operator{kEquality, BinaryOp::kIs};
    case Tok::kNot:
      return ahead().kind == Tok::kIn ? Operator{kEquality, BinaryOp::kNotIn, 2} : Operator{};
    case Tok::kLess:
      return {kOrder, BinaryOp::kLess};
    case Tok::kLessEqual:
      return {kOrder, BinaryOp::kLessEqual};
    case Tok::kGreaterEqual:
      return {kOrder, BinaryOp::kGreaterEqual};
    case Tok::kGreater: {
      const Token& next = ahead();
      const bool shift = next.kind == Tok::kGreater && !next.space_before && !next.line_start;
      return shift ? Operator{kShift, BinaryOp::kShiftRight, 2} : Operator{kOrder, BinaryOp::kGreater};
    }
    case Tok::kDotDot:
    case Tok::kDotDotEqual:
      return {kRange};
    case Tok::kPipe:
      return {kBitOr, BinaryOp::kBitOr};
    case Tok::kXor:
    case Tok::kCaret:
      return {kBitXor, BinaryOp::kBitXor};
    case Tok::kAmpersand:
      return {kBitAnd, BinaryOp::kBitAnd};
    case Tok::kShiftLeft:
      return {kShift, BinaryOp::kShiftLeft};
    case Tok::kPlus:
      return {kSum, BinaryOp::kAdd};
    case Tok::kMinus:
      return {kSum, BinaryOp::kSubtract};
    case Tok::kStar:
      return {kProduct, BinaryOp::kMultiply};
    case Tok::kSlash:
      return {kProduct, BinaryOp::kDivide};
    case Tok::kPercent:
      return {kProduct, BinaryOp::kRemainder};
    case Tok::kSlashSlash:
      return {kProduct, BinaryOp::kFloorDivide};
    case Tok::kAt:
      return {kProduct, BinaryOp::kMatmul};
    default:
      return {};
  }
}

ExprPtr Parser::expression() {
  if (starts_assigning_expression()) {
    return assigning_expression();
  }
  Level level(*this);
  ExprPtr value = binary(kOr);
  while (is(Tok::kPipeArrow)) {
    value = piped(std::move(value));
  }
  return is(Tok::kIf) && starts_conditional(pos_) ? conditional(std::move(value)) : std::move(value);
}

/// An operand of `|`: the value of a variant, which other variants may follow.
ExprPtr Parser::binary_above_pipe() { return binary(kBitXor); }

/// Whether the `if` at this token has its `else` before a body: `a if c else b`. Other forms, such as the
/// condition of a comprehension or a guard, have a colon, a brace, `then` or no `else` on the line.
bool Parser::starts_conditional(size_t index) const {
  int depth = 0;
  for (size_t i = index + 1; i < stream_.tokens.size(); ++i) {
    const Token& token = stream_.tokens[i];
    if (token.line_start && context_.layout) {
      return false;
    }
    switch (token.kind) {
      case Tok::kLeftParen:
      case Tok::kLeftBracket:
        ++depth;
        break;
      case Tok::kRightParen:
      case Tok::kRightBracket:
        if (--depth < 0) {
          return false;
        }
        break;
      case Tok::kRightBrace:  // of a dict that the `if` is inside
        if (depth == 0) {
          return false;
        }
        break;
      case Tok::kElse:
        if (depth == 0) {
          return true;
        }
        break;
      case Tok::kColon:
      case Tok::kComma:
      case Tok::kLeftBrace:
      case Tok::kEof:
        if (depth == 0 || token.kind == Tok::kEof) {
          return false;
        }
        break;
      default:
        if (depth == 0 && token.kind == Tok::kName && spelling(token) == "then") {
          return false;
        }
    }
  }
  return false;
}

/// `a if c else b`, at `if`, after `a`.
ExprPtr Parser::conditional(ExprPtr value) {
  Level level(*this);
  const auto body_of = [](ExprPtr body) {
    const SourceSpan place = body->span;
    return block_of(statement_of(place, std::move(body)));
  };
  auto node = make<IfExpr>(here());
  IfClause clause;
  clause.span = here();
  advance();
  clause.condition.value = binary(kOr);
  clause.body = body_of(std::move(value));
  node->clauses.push_back(std::move(clause));
  expect(Tok::kElse, "after the condition");
  node->otherwise = body_of(expression());
  return node;
}

/// `x |> f(a)` is f(x, a).
ExprPtr Parser::piped(ExprPtr value) {
  chained();
  const SourceSpan span = here();
  advance();
  join_line();
  ExprPtr target = binary(kOr);
  if (target->kind == ExprKind::kCall) {
    auto& args = as<CallExpr>(*target).args;
    args.insert(args.begin(), Arg{ArgKind::kPositional, kNoSymbol, std::move(value)});
    return target;
  }
  auto call = make<CallExpr>(span);
  call->callee = std::move(target);
  call->args.push_back({ArgKind::kPositional, kNoSymbol, std::move(value)});
  return call;
}

ExprPtr Parser::binary(int min_level) {
  ExprPtr left = is(Tok::kDotDot) || is(Tok::kDotDotEqual) ? range(nullptr) : operand();
  int left_compares = 0;       // the level of an unparenthesized a < b or a == b, which may become a chain
  bool is_comparison = false;  // `left`, without parentheses
  for (;;) {
    const Operator found = operator_here();
    if (found.level == 0 || found.level < min_level) {
      ends_with_comparison_ = is_comparison;
      return left;
    }
    chained();
    if (found.level == kRange) {
      left = range(std::move(left));
      left_compares = 0;
      is_comparison = false;
      continue;
    }
    const SourceSpan span = here();
    for (int i = 0; i < found.tokens; ++i) {
      advance();
    }
    join_line();
    ExprPtr right = binary(found.level + 1);
    const bool chains =
        found.level == kOrder || found.op == BinaryOp::kEqual || found.op == BinaryOp::kNotEqual;
    if (chains && found.level == left_compares) {
      if (left->kind == ExprKind::kBinary) {
        auto& pair = as<BinaryExpr>(*left);
        auto chain = make<CompareExpr>(pair.span);
        chain->first = std::move(pair.left);
        chain->links.push_back({pair.op, std::move(pair.right)});
        left = std::move(chain);
      }
      as<CompareExpr>(*left).links.push_back({found.op, std::move(right)});
      continue;
    }
    left_compares = chains ? found.level : 0;
    auto node = make<BinaryExpr>(span);
    node->op = found.op;
    const bool compares = found.level == kOrder || found.level == kEquality;
    node->left_compares = compares && is_comparison;
    node->right_compares = compares && ends_with_comparison_;
    is_comparison = compares;
    node->left = std::move(left);
    node->right = std::move(right);
    left = tests_type(*node) ? type_test(std::move(node)) : std::move(node);
  }
}

/// At `..` or `..=`. The start and the end may be missing.
ExprPtr Parser::range(ExprPtr start) {
  auto node = make<RangeExpr>(here());
  node->start = std::move(start);
  node->inclusive = is(Tok::kDotDotEqual);
  advance();
  if (starts_expression()) {
    node->end = binary(kRange + 1);
  }
  return node;
}

bool Parser::starts_expression() const {
  switch (kind_) {
    case Tok::kInt:
    case Tok::kFloat:
    case Tok::kText:
    case Tok::kLeftParen:
    case Tok::kLeftBracket:
    case Tok::kMinus:
    case Tok::kSelf:
    case Tok::kNil:
    case Tok::kTrue:
    case Tok::kFalse:
    case Tok::kTilde:
    case Tok::kIf:
    case Tok::kMatch:
      return true;
    default:
      return is_name();
  }
}

/// An operand of a binary operator. `**` binds less tightly than prefix operators: -2 ** 2 is 4.
ExprPtr Parser::operand() {
  ExprPtr base = unary();
  if (!is(Tok::kStarStar)) {
    return base;
  }
  Level level(*this);
  auto node = make<BinaryExpr>(here());
  node->op = BinaryOp::kPower;
  advance();
  join_line();
  node->left = std::move(base);
  node->right = operand();
  return node;
}

ExprPtr Parser::logical_not() {
  Level level(*this);
  auto node = make<UnaryExpr>(here());
  node->op = UnaryOp::kNot;
  advance();
  node->operand = binary(kEquality);
  return node;
}

ExprPtr Parser::unary() {
  UnaryOp op;
  switch (kind_) {
    case Tok::kNot:
      return logical_not();
    case Tok::kMinus:
      return negation();
    case Tok::kPlus:
      return previous().kind == Tok::kPlus && !current().space_before ? postfix() : positive();  // not `a++`
    case Tok::kBang:
      op = UnaryOp::kNot;
      break;
    case Tok::kTilde:
      op = UnaryOp::kBitNot;
      break;
    case Tok::kStar:
      op = UnaryOp::kDereference;
      break;
    case Tok::kAwait:
      op = UnaryOp::kAwait;
      break;
    case Tok::kMove:
      op = UnaryOp::kMove;
      break;
    case Tok::kAmpersand:
      if (ahead().kind == Tok::kColon) {
        return method_reference();
      }
      op = UnaryOp::kReference;
      break;
    default:
      return postfix();
  }
  Level level(*this);
  auto node = make<UnaryExpr>(here());
  node->op = op;
  advance();
  node->operand = unary();
  return node;
}

/// `+x`; a plus before a number literal is part of the literal.
ExprPtr Parser::positive() {
  Level level(*this);
  advance();
  ExprPtr value = unary();
  const bool is_number = value->kind == ExprKind::kInt || value->kind == ExprKind::kFloat;
  return is_number ? std::move(value) : call_of("__positive__", std::move(value));
}

/// A minus before a number literal is part of the literal.
ExprPtr Parser::negation() {
  Level level(*this);
  const SourceSpan span = here();
  advance();
  ExprPtr operand = unary();
  if (operand->kind == ExprKind::kInt) {
    auto& number = as<IntExpr>(*operand);
    number.value = static_cast<int64_t>(0 - static_cast<uint64_t>(number.value));
    number.span = from(span);
    return operand;
  }
  if (operand->kind == ExprKind::kFloat) {
    auto& number = as<FloatExpr>(*operand);
    number.value = -number.value;
    number.span = from(span);
    return operand;
  }
  auto node = make<UnaryExpr>(span);
  node->op = UnaryOp::kNegate;
  node->operand = std::move(operand);
  return node;
}

}  // namespace spl
