// Arrays, dicts and comprehensions.
#include <utility>

#include "host/syntax/parser.h"

namespace spl {

/// `[a, b]`, `[*xs, ...ys]`, `[value; count]`, `[e for x in xs]`, `[for x in xs: e]`.
ExprPtr Parser::array() {
  Scope scope(*this);
  const SourceSpan span = here();
  open_bracket();
  if (is(Tok::kFor)) {
    return leading_comprehension(span);
  }
  auto node = make<ArrayExpr>(span);
  if (!is(Tok::kRightBracket)) {
    Element first = element();
    if (is(Tok::kFor) && !first.spread) {
      auto result = comprehension(span, nullptr, std::move(first.value));
      close_bracket(Tok::kRightBracket, "after the comprehension");
      return result;
    }
    if (is(Tok::kSemicolon) && !first.spread) {
      advance();
      auto repeat = make<ArrayRepeatExpr>(span);
      repeat->value = std::move(first.value);
      repeat->count = expression();
      close_bracket(Tok::kRightBracket, "after the count");
      return repeat;
    }
    node->elements.push_back(std::move(first));
    while (accept(Tok::kComma) && !is(Tok::kRightBracket)) {
      node->elements.push_back(element());
    }
  }
  close_bracket(Tok::kRightBracket, "after the elements");
  return node;
}

Element Parser::element() {
  Element element;
  element.spread = accept(Tok::kStar) || accept(Tok::kEllipsis);
  element.value = expression();
  return element;
}

/// At `for`, after the element expression.
ExprPtr Parser::comprehension(SourceSpan span, ExprPtr key, ExprPtr value) {
  auto node = make<ComprehensionExpr>(span);
  node->key = std::move(key);
  node->value = std::move(value);
  while (is(Tok::kFor)) {
    node->clauses.push_back(comprehension_clause());
  }
  return node;
}

/// `(e for p in xs if c)`, at `for`: a call of a generator function with the first iterable as its argument.
ExprPtr Parser::generator_expression(SourceSpan span, ExprPtr value) {
  std::vector<ComprehensionClause> clauses;
  while (is(Tok::kFor)) {
    clauses.push_back(comprehension_clause());
  }
  auto yielded = make<UnaryExpr>(span);
  yielded->op = UnaryOp::kYield;
  yielded->operand = std::move(value);
  StmtPtr body = statement_of(span, std::move(yielded));
  auto argument = make<NameExpr>(span);
  argument->name = intern("(iterable)");
  ExprPtr first = std::exchange(clauses.front().iterable, std::move(argument));
  for (; !clauses.empty(); clauses.pop_back()) {
    ComprehensionClause& clause = clauses.back();
    for (; !clause.conditions.empty(); clause.conditions.pop_back()) {
      auto test = make<IfExpr>(clause.conditions.back()->span);
      IfClause only;
      only.span = test->span;
      only.condition.value = std::move(clause.conditions.back());
      only.body = block_of(std::move(body));
      test->clauses.push_back(std::move(only));
      const SourceSpan place = test->span;
      body = statement_of(place, std::move(test));
    }
    auto loop = make<ForStmt>(span);
    loop->pattern = std::move(clause.pattern);
    loop->second = std::move(clause.second);
    loop->iterable = std::move(clause.iterable);
    loop->body = block_of(std::move(body));
    body = std::move(loop);
  }
  auto function = make<LambdaExpr>(span);
  Param& iterable = function->params.emplace_back();
  iterable.span = span;
  iterable.name = intern("(iterable)");
  function->body = block_of(std::move(body));
  auto call = make<CallExpr>(span);
  call->callee = std::move(function);
  call->args.push_back({ArgKind::kPositional, kNoSymbol, std::move(first)});
  return call;
}

ExprPtr Parser::leading_comprehension(SourceSpan span) {
  auto node = make<ComprehensionExpr>(span);
  while (is(Tok::kFor)) {
    node->clauses.push_back(comprehension_clause());
  }
  expect(Tok::kColon, "before the comprehension element");
  node->value = expression();
  close_bracket(Tok::kRightBracket, "after the comprehension");
  return node;
}

ComprehensionClause Parser::comprehension_clause() {
  ComprehensionClause clause;
  advance();
  clause.pattern = loop_pattern(clause.second);
  expect(Tok::kIn, "after the comprehension variable");
  clause.iterable = expression();
  while (accept(Tok::kIf)) {
    clause.conditions.push_back(expression());
  }
  return clause;
}

/// `{}`, `{k: v, **more}`, `{k: v for x in xs}`, and the sets `{a, b}` and `{e for x in xs}`.
ExprPtr Parser::dict() {
  Scope scope(*this);
  const SourceSpan span = here();
  auto node = make<DictExpr>(span);
  open_bracket();
  if (is(Tok::kStar)) {
    return set(span, element());
  }
  while (!is(Tok::kRightBrace)) {
    DictEntry entry;
    if (accept(Tok::kStarStar)) {
      entry.value = expression();
    } else {
      entry.key = expression();
      if (node->entries.empty() && (is(Tok::kComma) || is(Tok::kRightBrace) || is(Tok::kFor))) {
        return set(span, {std::move(entry.key), false});
      }
      expect(Tok::kColon, "after the key");
      entry.value = expression();
      if (is(Tok::kFor) && node->entries.empty()) {
        auto result = comprehension(span, std::move(entry.key), std::move(entry.value));
        close_bracket(Tok::kRightBrace, "after the comprehension");
        return result;
      }
    }
    node->entries.push_back(std::move(entry));
    if (!accept(Tok::kComma)) {
      break;
    }
  }
  close_bracket(Tok::kRightBrace, "after the entries");
  return node;
}

/// After the first element in braces: set([…]).
ExprPtr Parser::set(SourceSpan span, Element first) {
  ExprPtr elements;
  if (is(Tok::kFor) && !first.spread) {
    elements = comprehension(span, nullptr, std::move(first.value));
  } else {
    auto array = make<ArrayExpr>(span);
    array->elements.push_back(std::move(first));
    while (accept(Tok::kComma) && !is(Tok::kRightBrace)) {
      array->elements.push_back(element());
    }
    elements = std::move(array);
  }
  close_bracket(Tok::kRightBrace, "after the elements");
  return call_of("set", std::move(elements));
}

/// At a brace that opens either a block or a dict: whether it opens a dict.
bool Parser::brace_is_dict() const {
  const Tok first = ahead().kind;
  if (first == Tok::kRightBrace || first == Tok::kStarStar) {
    return true;
  }
  const bool key = first == Tok::kText || first == Tok::kInt || can_name(first);
  const Tok after = ahead(3).kind;
  return key && ahead(2).kind == Tok::kColon && after != Tok::kFor && after != Tok::kWhile &&
         after != Tok::kLoop;
}

}  // namespace spl
