// Types: parsed and kept, without effect at run time except in extern signatures and patterns.
#include <charconv>

#include "host/syntax/parser.h"

namespace spl {

/// `A | B`.
TypePtr Parser::type() {
  Level level(*this);
  const SourceSpan span = here();
  TypePtr first = type_atom();
  if (!is(Tok::kPipe) || context_.no_pipe) {
    return first;
  }
  auto any = make<TypeExpr>(span);
  any->kind = TypeKind::kUnion;
  any->args.push_back(std::move(first));
  while (accept(Tok::kPipe)) {
    any->args.push_back(type_atom());
  }
  return any;
}

TypePtr Parser::type_atom() {
  const SourceSpan span = here();
  std::string modifiers;
  for (;;) {
    const bool word = (is_word("iso") || is_word("dyn")) && can_name(ahead().kind);
    const bool sigil = is(Tok::kAmpersand) || is(Tok::kStar) || is(Tok::kPlus) || is(Tok::kMinus) ||
                       is(Tok::kMut) || is(Tok::kConst) || is(Tok::kHash);
    if (!word && !sigil) {
      break;
    }
    if (!modifiers.empty()) {
      modifiers += ' ';
    }
    modifiers += spelling(current());
    advance();
  }
  TypePtr base = type_base();
  base->span = from(span);
  base->modifiers = std::move(modifiers);
  base->optional = accept(Tok::kQuestion);
  return base;
}

TypePtr Parser::type_base() {
  Level level(*this);
  switch (kind_) {
    case Tok::kText:  // Python's `-> 'Node'`, a type that is declared below
      return unknown_type();
    case Tok::kLeftBracket:
      return bracket_type();
    case Tok::kLeftBrace:
      return brace_type();
    case Tok::kLeftParen:
      return tuple_type();
    case Tok::kFn:
      return function_type();
    default:
      return named_type();
  }
}

/// A token that stands for any type.
TypePtr Parser::unknown_type() {
  auto node = make<TypeExpr>(here());
  node->kind = TypeKind::kUnknown;
  advance();
  return node;
}

/// `torch.Tensor<f32, [N, 3]>`, `Result[T, E]`.
TypePtr Parser::named_type() {
  auto node = make<TypeExpr>(here());
  if (is(Tok::kNil)) {
    node->path.push_back(member_name());
    return node;
  }
  node->path.push_back(expect_name("a type"));
  while (is(Tok::kDot) || is(Tok::kColonColon)) {
    advance();
    node->path.push_back(member_name());
  }
  if (is(Tok::kLess) && angle_end(pos_) != kNone) {
    node->args = generic_arguments();
  } else if (is(Tok::kLeftBracket) && touches_previous()) {
    Scope scope(*this);
    open_bracket();
    node->args = type_list(Tok::kRightBracket);
    close_bracket(Tok::kRightBracket, "after the type arguments");
  }
  return node;
}

/// `<T, U>` with its angle brackets.
std::vector<TypePtr> Parser::generic_arguments() {
  expect(Tok::kLess, "before the type arguments");
  std::vector<TypePtr> args = type_list(Tok::kGreater);
  expect(Tok::kGreater, "after the type arguments");
  return args;
}

/// Type arguments up to `close`, which is not consumed.
std::vector<TypePtr> Parser::type_list(Tok close) {
  std::vector<TypePtr> types;
  while (!is(close)) {
    types.push_back(type_argument());
    if (!accept(Tok::kComma)) {
      break;
    }
    join_line();
  }
  return types;
}

TypePtr Parser::type_argument() {
  const SourceSpan span = here();
  if (is(Tok::kInt)) {
    auto node = make<TypeExpr>(span);
    node->kind = TypeKind::kInteger;
    const auto digits = spelling(current());
    std::from_chars(digits.data(), digits.data() + digits.size(), node->value);
    advance();
    return node;
  }
  // `?`, and in Python's annotations `Tuple[int, ...]` and `Literal["sum"]`.
  if (is(Tok::kQuestion) || is(Tok::kEllipsis) || is(Tok::kText)) {
    return unknown_type();
  }
  if (is_name() && (ahead().kind == Tok::kAssign || ahead().kind == Tok::kColon)) {
    auto node = make<TypeExpr>(span);
    node->kind = TypeKind::kNamed;
    node->path.push_back(expect_name("a name"));
    advance();
    node->args.push_back(type_argument());
    return node;
  }
  return is(Tok::kLeftBracket) ? shape_or_array() : type();
}

/// As a type argument `[N, 3]` is a shape; `[T]` stays an array.
TypePtr Parser::shape_or_array() {
  Level level(*this);
  const size_t close = matching_bracket(pos_);
  bool is_shape =
      ahead().kind == Tok::kInt || ahead().kind == Tok::kQuestion || ahead().kind == Tok::kRightBracket;
  int depth = 0;
  for (size_t i = pos_; close != kNone && i < close; ++i) {
    const Tok kind = stream_.tokens[i].kind;
    if (kind == Tok::kLeftBracket || kind == Tok::kLess || kind == Tok::kLeftParen) {
      ++depth;
    }
    if (kind == Tok::kRightBracket || kind == Tok::kGreater || kind == Tok::kRightParen) {
      --depth;
    }
    if (kind == Tok::kComma && depth == 1) {
      is_shape = true;
    }
  }
  if (!is_shape) {
    return type();
  }
  Scope scope(*this);
  auto node = make<TypeExpr>(here());
  node->kind = TypeKind::kShape;
  open_bracket();
  node->args = type_list(Tok::kRightBracket);
  close_bracket(Tok::kRightBracket, "after the shape");
  return node;
}

/// `[T]`, `[T; 3]`.
TypePtr Parser::bracket_type() {
  Scope scope(*this);
  auto node = make<TypeExpr>(here());
  node->kind = TypeKind::kArray;
  open_bracket();
  node->args.push_back(type());
  if (accept(Tok::kSemicolon)) {
    node->size = expression();
  }
  close_bracket(Tok::kRightBracket, "after the element type");
  return node;
}

/// `{K: V}`, `{T}`.
TypePtr Parser::brace_type() {
  Scope scope(*this);
  auto node = make<TypeExpr>(here());
  node->kind = TypeKind::kDict;
  open_bracket();
  node->args.push_back(type());
  if (accept(Tok::kColon)) {
    node->args.push_back(type());
  }
  close_bracket(Tok::kRightBrace, "after the type");
  return node;
}

/// `(A, B)`, `()`, `(A) -> B`; `(A)` is A.
TypePtr Parser::tuple_type() {
  auto node = make<TypeExpr>(here());
  node->kind = TypeKind::kTuple;
  {
    Scope scope(*this);
    open_bracket();
    node->args = type_list(Tok::kRightParen);
    close_bracket(Tok::kRightParen, "after the types");
  }
  if (accept(Tok::kArrow)) {
    node->kind = TypeKind::kFunction;
    node->result = type();
  } else if (node->args.size() == 1) {
    return std::move(node->args.front());
  }
  return node;
}

/// `fn(A, B) -> C`.
TypePtr Parser::function_type() {
  auto node = make<TypeExpr>(here());
  node->kind = TypeKind::kFunction;
  advance();
  if (!is(Tok::kLeftParen)) {
    fail_expected("'(' after 'fn'");
  }
  {
    Scope scope(*this);
    open_bracket();
    node->args = type_list(Tok::kRightParen);
    close_bracket(Tok::kRightParen, "after the types");
  }
  if (accept(Tok::kArrow)) {
    node->result = type();
  }
  return node;
}

}  // namespace spl
