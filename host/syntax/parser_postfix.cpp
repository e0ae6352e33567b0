// Postfix forms: members, calls, subscripts, `?`, `??`, casts, struct literals.
#include "host/syntax/parser.h"

namespace spl {

ExprPtr Parser::postfix() {
  ExprPtr value = primary();
  for (; starts_postfix(*value); chained()) {
    value = postfix_operator(std::move(value));
  }
  return value;
}

bool Parser::starts_postfix(const Expr& value) {
  switch (kind_) {
    case Tok::kDot:
    case Tok::kQuestionDot:
    case Tok::kLeftParen:
    case Tok::kQuestion:
    case Tok::kDotQuestion:
    case Tok::kQuestionQuestion:
      return true;
    case Tok::kColonColon:
      return !context_.subscript;
    case Tok::kLeftBracket:
      return touches_previous();
    case Tok::kAs:
      return !context_.no_cast;
    case Tok::kArrow:
      return starts_update_call();
    case Tok::kLess:
      return starts_type_application(value);
    case Tok::kLeftBrace:
      return starts_struct_literal(value);
    case Tok::kShiftLeft:
      if (ahead().kind == Tok::kLess && !ahead().space_before) {
        fail("kernel launches are not supported");
      }
      return false;
    default:
      return false;
  }
}

ExprPtr Parser::postfix_operator(ExprPtr value) {
  switch (kind_) {
    case Tok::kLeftParen:
      return call(std::move(value));
    case Tok::kLeftBracket:
      return index(std::move(value));
    case Tok::kQuestion:
      return postfix_sign<TryExpr>(std::move(value));
    case Tok::kDotQuestion:
      return postfix_sign<PresentExpr>(std::move(value));
    case Tok::kQuestionQuestion:
      return coalesce(std::move(value));
    case Tok::kAs:
      return cast(std::move(value));
    case Tok::kArrow:
      return update_call(std::move(value));
    case Tok::kLess:
      return type_application(std::move(value));
    case Tok::kLeftBrace:
      return struct_literal(std::move(value));
    default:
      return member(std::move(value));
  }
}

template <class Node>
ExprPtr Parser::postfix_sign(ExprPtr operand) {
  auto node = make<Node>(here());
  node->operand = std::move(operand);
  advance();
  return node;
}

ExprPtr Parser::member(ExprPtr object) {
  const bool nil_safe = is(Tok::kQuestionDot);
  advance();
  if (current().indent > context_.indent) {
    join_line();
  }
  if (is(Tok::kInt) && !nil_safe) {
    auto node = make<TupleFieldExpr>(here());
    const std::string digits(spelling(current()));
    if (digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos) {
      fail("a tuple index must be a decimal integer");
    }
    node->index = std::stoi(digits);
    node->object = std::move(object);
    advance();
    return node;
  }
  if (!nil_safe && is_elementwise()) {
    fail("elementwise operators like '." + std::string(spelling(current())) + "' are not supported",
         "use map(), or the operators of tensors");
  }
  auto node = make<FieldExpr>(here());
  node->nil_safe = nil_safe;
  node->name = member_name();
  static const Symbol own_name = intern("__name__"), type = intern("type");
  if (node->name == own_name && object->kind == ExprKind::kCall) {  // type(x).__name__
    auto& call = static_cast<CallExpr&>(*object);
    if (call.callee->kind == ExprKind::kName && as<NameExpr>(*call.callee).name == type &&
        call.args.size() == 1) {
      return call_of("__type_name__", std::move(call.args[0].value));
    }
  }
  node->object = std::move(object);
  return node;
}

/// Whether an elementwise operator such as `.+` follows a dot.
bool Parser::is_elementwise() const {
  return is(Tok::kPlus) || is(Tok::kMinus) || is(Tok::kStar) || is(Tok::kSlash) || is(Tok::kCaret);
}

ExprPtr Parser::cast(ExprPtr operand) {
  auto node = make<CastExpr>(here());
  advance();
  node->operand = std::move(operand);
  node->type = type_atom();
  return node;
}

ExprPtr Parser::coalesce(ExprPtr left) {
  const Level level(*this);
  auto node = make<BinaryExpr>(here());
  advance();
  join_line();
  node->op = BinaryOp::kCoalesce;
  if (left->kind == ExprKind::kIndex) {
    static_cast<IndexExpr&>(*left).checks_key = false;
  }
  node->left = std::move(left);
  // Right-associative: unary() parses a further `??`, so `a ?? b ?? c` is `a ?? (b ?? c)`.
  node->right = unary();
  return node;
}

ExprPtr Parser::call(ExprPtr callee) {
  auto node = make<CallExpr>(callee->span);
  node->args = arguments(Tok::kRightParen);
  if (next_raises_ && callee->kind == ExprKind::kName && node->args.size() == 1) {
    static const Symbol next = intern("next"), raising = intern("__next_or_stop__");
    auto& name = static_cast<NameExpr&>(*callee);
    name.name = name.name == next ? raising : name.name;
  }
  node->callee = std::move(callee);
  return node;
}

/// A bracketed argument list, with its brackets.
std::vector<Arg> Parser::arguments(Tok close) {
  Scope scope(*this);
  std::vector<Arg> args;
  open_bracket();
  while (!is(close)) {
    args.push_back(argument(!args.empty() && args.back().kind == ArgKind::kNamed));
    if (is(Tok::kFor) && args.back().kind == ArgKind::kPositional) {
      const SourceSpan span = args.back().value->span;
      args.back().value = generator_expression(span, std::move(args.back().value));
    }
    if (!accept(Tok::kComma)) {
      break;
    }
  }
  close_bracket(close, "after the arguments");
  return args;
}

/// `lambda: e` is a lambda, but an argument of that name after another named argument.
Arg Parser::argument(bool follows_named) {
  Arg arg;
  if (accept(Tok::kDotDot)) {
    arg.kind = ArgKind::kBase;
  } else if (accept(Tok::kStarStar)) {
    arg.kind = ArgKind::kDictSpread;
  } else if (accept(Tok::kEllipsis) || accept(Tok::kStar)) {
    arg.kind = ArgKind::kSpread;
  } else if ((is(Tok::kName) || is_keyword(kind_)) && (follows_named || !starts_python_lambda())) {
    const Tok next = ahead().kind;
    if ((next == Tok::kColon && !starts_assigning_expression()) || next == Tok::kAssign) {
      arg.kind = ArgKind::kNamed;
      arg.name = member_name();
      advance();
    }
  }
  arg.value = starts_symbol(pos_) ? symbol() : argument_value();
  if (arg.kind == ArgKind::kPositional && accept(Tok::kEllipsis)) {
    arg.kind = ArgKind::kSpread;
  }
  return arg;
}

/// An argument that contains `_`, `_1` or `_2` is a lambda with these parameters.
ExprPtr Parser::argument_value() {
  const uint32_t outer = placeholders_;
  const SourceSpan span = here();
  placeholders_ = 0;
  ++arguments_;
  ExprPtr value = method_of_variable(expression());
  --arguments_;
  const uint32_t count = placeholders_;
  placeholders_ = outer;
  if (arguments_ > 0 && count == 1 && file_.text[span.start] == '_' && value->kind == ExprKind::kName) {
    // `_` alone is a parameter of the lambda around its call: xs.map(add(_, 1)).
    as<NameExpr>(*value).name = intern("_" + std::to_string(++placeholders_));
    return value;
  }
  return count == 0 ? std::move(value) : placeholder_lambda(std::move(value), count, span);
}

ExprPtr Parser::index(ExprPtr object) {
  Scope scope(*this);
  auto node = make<IndexExpr>(here());
  node->object = std::move(object);
  node->checks_key = checks_keys_;
  open_bracket();
  context_.subscript = true;
  do {
    node->subscripts.push_back(subscript());
    if (!is(Tok::kComma)) {
      break;
    }
    node->tuple = true;
    advance();
  } while (!is(Tok::kRightBracket));
  close_bracket(Tok::kRightBracket, "after the index");
  return node;
}

/// An index, a slice `[start] : [stop] [: [step]]`, or `...` (Ellipsis). `::` is two colons here.
ExprPtr Parser::subscript() {
  const SourceSpan span = here();
  if (accept(Tok::kEllipsis)) {
    auto all = make<NameExpr>(span);
    all->name = intern("Ellipsis");
    return all;
  }
  const auto at_colon = [&] { return is(Tok::kColon) || is(Tok::kColonColon); };
  ExprPtr start = at_colon() ? nullptr : expression();
  if (!at_colon()) {
    return start;
  }
  const auto part = [&]() -> ExprPtr {
    return is(Tok::kColon) || is(Tok::kComma) || is(Tok::kRightBracket) ? nullptr : expression();
  };
  auto node = make<SliceExpr>(span);
  node->start = std::move(start);
  if (accept(Tok::kColonColon)) {
    node->step = part();
    return node;
  }
  advance();
  node->stop = part();
  if (accept(Tok::kColon)) {
    node->step = part();
  }
  return node;
}

bool Parser::starts_update_call() const {
  return !context_.no_arrow && can_name(ahead().kind) && ahead(2).kind == Tok::kLeftParen &&
         !ahead(2).space_before;
}

ExprPtr Parser::update_call(ExprPtr target) {
  check_target(*target);
  advance();
  auto node = make<UpdateCallExpr>(here());
  node->target = std::move(target);
  node->method = member_name();
  node->args = arguments(Tok::kRightParen);
  return node;
}

/// The index of the `>` that matches the `<` at `open`, if all tokens between can occur in types; else kNone.
size_t Parser::angle_end(size_t open) const {
  constexpr size_t kMaxTokens = 256;
  int angles = 0;
  int brackets = 0;
  for (size_t i = open; i < stream_.tokens.size() && i < open + kMaxTokens; ++i) {
    switch (stream_.tokens[i].kind) {
      case Tok::kLess:
        ++angles;
        break;
      case Tok::kGreater:
        if (--angles == 0) {
          return brackets == 0 ? i : kNone;
        }
        break;
      case Tok::kLeftParen:
      case Tok::kLeftBracket:
        ++brackets;
        break;
      case Tok::kRightParen:
      case Tok::kRightBracket:
        if (--brackets < 0) {
          return kNone;
        }
        break;
      case Tok::kName:
      case Tok::kInt:
      case Tok::kComma:
      case Tok::kDot:
      case Tok::kColonColon:
      case Tok::kQuestion:
      case Tok::kStar:
      case Tok::kAmpersand:
      case Tok::kPipe:
      case Tok::kArrow:
      case Tok::kAssign:
      case Tok::kMut:
      case Tok::kConst:
      case Tok::kFn:
      case Tok::kNil:
      case Tok::kColon:
      case Tok::kPlus:
      case Tok::kSemicolon:
        break;
      default:
        return kNone;
    }
  }
  return kNone;
}

/// `f<T>(…)`, `Name<T>.member`: only if the token after `>` excludes a comparison.
bool Parser::starts_type_application(const Expr& object) const {
  if (object.kind != ExprKind::kName && object.kind != ExprKind::kField) {
    return false;
  }
  if (!touches_previous()) {
    return false;
  }
  const size_t end = angle_end(pos_);
  if (end == kNone) {
    return false;
  }
  const Token& next = stream_.tokens[end + 1];
  if (next.space_before || next.line_start) {
    return false;
  }
  return next.kind == Tok::kLeftParen || next.kind == Tok::kDot || next.kind == Tok::kColonColon;
}

ExprPtr Parser::type_application(ExprPtr object) {
  auto node = make<TypeApplyExpr>(object->span);
  node->object = std::move(object);
  node->types = generic_arguments();
  return node;
}

/// Whether a brace after a capitalized name starts a struct literal.
bool Parser::starts_struct_literal(const Expr& type) const {
  if (context_.no_braces || current().line_start) {
    return false;
  }
  const Expr* named = type.kind == ExprKind::kTypeApply ? as<TypeApplyExpr>(type).object.get() : &type;
  Symbol last = kNoSymbol;
  if (named->kind == ExprKind::kName) {
    last = as<NameExpr>(*named).name;
  }
  if (named->kind == ExprKind::kField) {
    last = as<FieldExpr>(*named).name;
  }
  const std::string& spelled = name_of(last);
  if (spelled.empty() || spelled[0] < 'A' || spelled[0] > 'Z') {
    return false;
  }
  const Tok first = ahead().kind;
  if (first == Tok::kRightBrace || first == Tok::kDotDot) {
    return true;
  }
  const Tok second = ahead(2).kind;
  return can_name(first) && (second == Tok::kColon || second == Tok::kComma || second == Tok::kRightBrace);
}

ExprPtr Parser::struct_literal(ExprPtr type) {
  Scope scope(*this);
  auto node = make<StructLiteralExpr>(type->span);
  node->type = std::move(type);
  open_bracket();
  while (!is(Tok::kRightBrace)) {
    Arg arg;
    if (accept(Tok::kDotDot)) {
      arg.kind = ArgKind::kBase;
      arg.value = expression();
    } else {
      arg.kind = ArgKind::kNamed;
      auto same = make<NameExpr>(here());
      arg.name = same->name = member_name();
      arg.value = accept(Tok::kColon) ? expression() : ExprPtr(std::move(same));
    }
    node->args.push_back(std::move(arg));
    if (!accept(Tok::kComma)) {
      break;
    }
  }
  close_bracket(Tok::kRightBrace, "after the fields");
  return node;
}

}  // namespace spl
