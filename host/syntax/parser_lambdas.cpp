// Lambdas in all spellings.
#include "host/syntax/parser.h"

namespace spl {

/// `\x, y=d, z..., **w: e`, `\(x: T, y: T) -> U: e`, `\: e`; the body may be an indented block.
ExprPtr Parser::backslash_lambda() {
  auto node = make<LambdaExpr>(here());
  backslash_params(*node);
  lambda_body(*node);
  return node;
}

/// The backslash, or Python's `lambda`, and the parameters. `\*` accepts any arguments.
void Parser::backslash_params(LambdaExpr& lambda) {
  advance();
  if (is(Tok::kLeftParen)) {
    lambda.params = parameters(nullptr);
    if (accept(Tok::kArrow)) {
      lambda.return_type = type();
    }
  } else if (is(Tok::kStar) && ahead().kind != Tok::kName) {
    advance();
    Param& rest = lambda.params.emplace_back();
    rest.span = from(here());
    rest.name = intern("_");
    rest.kind = ParamKind::kRest;
  } else if (!is(Tok::kColon)) {
    do {
      lambda.params.push_back(lambda_param(false));
      Param& param = lambda.params.back();
      if (param.kind == ParamKind::kNormal && !param.pattern && accept(Tok::kAssign)) {
        param.default_value = expression();
      }
    } while (accept(Tok::kComma));
  }
}

/// `fn(x: T) -> U: e`.
ExprPtr Parser::fn_lambda() {
  auto node = make<LambdaExpr>(here());
  advance();
  if (!is(Tok::kLeftParen)) {
    fail_expected("'(' after 'fn'");
  }
  node->params = parameters(nullptr);
  if (accept(Tok::kArrow)) {
    node->return_type = type();
  }
  lambda_body(*node);
  return node;
}

void Parser::lambda_body(LambdaExpr& lambda) {
  expect(Tok::kColon, "after the lambda parameters");
  lambda.body = opens_indented() ? indented_block() : lambda_value();
}

/// A block of one expression, jump or assignment: `\x: total += x`.
Block Parser::lambda_value() {
  Block block = value_block();
  if (StmtPtr& only = block.statements[0]; only->kind == StmtKind::kExpr && starts_assignment()) {
    only = assignment(std::move(static_cast<ExprStmt&>(*only).value));
  }
  return block;
}

/// `|x, y| e`, `|x| { … }`, `|| e`.
ExprPtr Parser::bar_lambda() {
  auto node = make<LambdaExpr>(here());
  if (!accept(Tok::kPipePipe)) {
    advance();
    while (!is(Tok::kPipe)) {
      node->params.push_back(lambda_param(true));
      if (!accept(Tok::kComma)) {
        break;
      }
    }
    expect(Tok::kPipe, "after the lambda parameters");
  }
  node->body = is(Tok::kLeftBrace) ? brace_block() : lambda_value();
  return node;
}

Param Parser::lambda_param(bool with_type) {
  Param param;
  param.span = here();
  if (is(Tok::kLeftParen)) {
    param.name = intern("_");
    param.pattern = tuple_pattern();
  } else {
    param.kind = accept(Tok::kStarStar) ? ParamKind::kNamed
                 : accept(Tok::kStar)   ? ParamKind::kRest
                                        : ParamKind::kNormal;
    accept(Tok::kMut);
    param.name = expect_name("a parameter");
    if (param.kind == ParamKind::kNormal && accept(Tok::kEllipsis)) {
      param.kind = ParamKind::kRest;
    }
  }
  if (with_type && accept(Tok::kColon)) {
    Scope scope(*this);
    context_.no_pipe = true;
    param.type = type();
  }
  return param;
}

/// `yield e`, `yield a, b`; without a value it yields nil.
ExprPtr Parser::yield_expression() {
  Level level(*this);
  auto node = make<UnaryExpr>(here());
  node->op = UnaryOp::kYield;
  advance();
  if (is_word("from") && !at_statement_end()) {
    advance();
    return yield_from(node->span);
  }
  node->operand = at_statement_end() ? make<NilExpr>(here()) : value_or_tuple(expression());
  return node;
}

/// Whether `x => e` or `(x, y) => e` follows.
bool Parser::starts_arrow_lambda() const {
  if (context_.no_arrow) {
    return false;
  }
  if (is(Tok::kName)) {
    return ahead().kind == Tok::kFatArrow;
  }
  size_t i = 1;
  while (ahead(i).kind == Tok::kName && ahead(i + 1).kind == Tok::kComma) {
    i += 2;
  }
  if (ahead(i).kind == Tok::kName) {
    ++i;
  }
  return ahead(i).kind == Tok::kRightParen && ahead(i + 1).kind == Tok::kFatArrow;
}

ExprPtr Parser::arrow_lambda() {
  auto node = make<LambdaExpr>(here());
  const bool brackets = accept(Tok::kLeftParen);
  while (!is(Tok::kRightParen) && !is(Tok::kFatArrow)) {
    node->params.push_back(lambda_param(false));
    if (!accept(Tok::kComma)) {
      break;
    }
  }
  if (brackets) {
    expect(Tok::kRightParen, "after the parameters");
  }
  expect(Tok::kFatArrow, "after the parameters");
  node->body = lambda_value();
  return node;
}

/// `&:name` is \x: x.name().
ExprPtr Parser::method_reference() {
  const SourceSpan span = here();
  advance();
  advance();
  const Symbol parameter = intern("_1");
  auto object = make<NameExpr>(span);
  object->name = parameter;
  auto field = make<FieldExpr>(here());
  field->name = member_name();
  field->object = std::move(object);
  auto call = make<CallExpr>(field->span);
  call->callee = std::move(field);
  return placeholder_lambda(std::move(call), 1, span);
}

/// A lambda with the parameters `_` (also `_1`), `_2`… and `body`.
ExprPtr Parser::placeholder_lambda(ExprPtr body, uint32_t count, SourceSpan span) {
  auto node = make<LambdaExpr>(span);
  for (uint32_t i = 1; i <= count; ++i) {
    Param& param = node->params.emplace_back();
    param.span = span;
    param.name = intern(std::string(1, '_').append(std::to_string(i)));
  }
  auto value = make<ExprStmt>(span);
  value->value = std::move(body);
  node->body.span = span;
  node->body.statements.push_back(std::move(value));
  return node;
}

}  // namespace spl
