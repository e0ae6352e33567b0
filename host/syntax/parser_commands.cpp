// Commands: calls without parentheses, and trailing blocks.
#include "host/syntax/parser.h"

namespace spl {

ExprPtr Parser::command_or_expression() {
  if (starts_command()) {
    return command();
  }
  return with_tail(expression());
}

/// A name or dotted path, then a space and the start of an argument or a block on the same line.
bool Parser::starts_command() const {
  if ((!is_name() && !is(Tok::kSelf)) || starts_new() || starts_python_lambda()) {
    return false;
  }
  size_t last = pos_;
  const auto& tokens = stream_.tokens;
  while (tokens[last + 1].kind == Tok::kDot && !tokens[last + 1].space_before &&
         (can_name(tokens[last + 2].kind) || is_keyword(tokens[last + 2].kind))) {
    last += 2;
  }
  return starts_argument(last + 1) || starts_block_tail(last + 1);
}

bool Parser::starts_argument(size_t index) const {
  const Token& token = stream_.tokens[index];
  if (!token.space_before || token.line_start) {
    return false;
  }
  switch (token.kind) {
    case Tok::kInt:
    case Tok::kFloat:
    case Tok::kText:
    case Tok::kName:
    case Tok::kTrue:
    case Tok::kFalse:
    case Tok::kNil:
    case Tok::kSelf:
    case Tok::kLeftBracket:
    case Tok::kBackslash:
    case Tok::kFn:
    case Tok::kMatch:
    case Tok::kAwait:
    case Tok::kBang:
    case Tok::kTilde:
    case Tok::kType:
      return true;
    case Tok::kColon:  // `given_lazy :name, …`
      return starts_symbol(index);
    case Tok::kIf:  // `x if c else y` does not call x
      return !starts_conditional(index);
    case Tok::kNot:  // `x not in xs` does not call x
      return stream_.tokens[index + 1].kind != Tok::kIn;
    case Tok::kLeftBrace: {  // `Point { x: 1 }` is a struct literal
      const char first = file_.text[stream_.tokens[index - 1].start];
      return first < 'A' || first > 'Z';
    }
    default:
      return false;
  }
}

/// `:name` after a space or a parenthesis: an argument of a std.spec function.
bool Parser::starts_symbol(size_t colon) const {
  const auto& tokens = stream_.tokens;
  const bool bracketed = colon > 0 && tokens[colon - 1].kind == Tok::kLeftParen;
  return is_spec_ && tokens[colon].kind == Tok::kColon && (tokens[colon].space_before || bracketed) &&
         can_name(tokens[colon + 1].kind) && !tokens[colon + 1].space_before && !tokens[colon + 1].line_start;
}

/// A colon at a line end, followed by a more deeply indented line.
bool Parser::starts_block_tail(size_t colon) const {
  const auto& tokens = stream_.tokens;
  if (tokens[colon].kind != Tok::kColon || tokens[colon].line_start) {
    return false;
  }
  const Token& next = tokens[colon + 1];
  return next.line_start && next.kind != Tok::kEof && next.indent > context_.indent;
}

ExprPtr Parser::command() {
  Level level(*this);
  ExprPtr callee;
  if (is(Tok::kSelf)) {
    uses_self_ = true;
    callee = make<SelfExpr>(here());
    advance();
  } else {
    auto name = make<NameExpr>(here());
    name->name = expect_name("a name");
    callee = std::move(name);
  }
  while (is(Tok::kDot)) {
    chained();
    advance();
    auto field = make<FieldExpr>(here());
    field->name = member_name();
    field->object = std::move(callee);
    callee = std::move(field);
  }
  auto call = make<CallExpr>(callee->span);
  const bool is_expect = callee->kind == ExprKind::kName && name_of(as<NameExpr>(*callee).name) == "expect";
  call->callee = std::move(callee);
  while (!is(Tok::kColon) || starts_symbol(pos_)) {
    call->args.push_back(is(Tok::kBackslash) ? trailing_lambda() : command_argument());
    if (!accept(Tok::kComma)) {
      break;
    }
    join_line();
  }
  if (is(Tok::kBackslash)) {
    call->args.push_back(trailing_lambda());
  } else if (starts_block_tail(pos_)) {
    append_block(*call);
  }
  if (is_expect) {
    return spec_assertion(std::move(call));
  }
  return call;
}

Arg Parser::command_argument() {
  Arg arg;
  if ((is_name() || is_keyword(kind_)) && !starts_python_lambda() && ahead().kind == Tok::kColon &&
      !ahead(2).line_start) {
    arg.kind = ArgKind::kNamed;
    arg.name = member_name();
    advance();
  }
  arg.value = starts_symbol(pos_) ? symbol() : argument_value();
  return arg;
}

/// `:name` is the string ":name".
ExprPtr Parser::symbol() {
  auto node = make<TextExpr>(here());
  advance();
  node->value = ":" + name_of(expect_name("a name"));
  return node;
}

/// `expect a to_equal b` is expect(a).to_equal(b); `expect a to eq b` is expect(a).to(eq(b)).
ExprPtr Parser::spec_assertion(ExprPtr call) {
  if (!is(Tok::kName)) {
    return call;
  }
  const auto word = spelling(current());
  if (!word.starts_with("to") && !word.starts_with("not_to")) {
    return call;
  }
  const bool takes_matcher = word == "to" || word == "not_to";

  auto outer = make<CallExpr>(here());
  auto method = make<FieldExpr>(here());
  method->object = std::move(call);
  method->name = expect_name("a matcher");
  outer->callee = std::move(method);
  if (takes_matcher) {
    outer->args.push_back({ArgKind::kPositional, kNoSymbol, command_or_expression()});
    return outer;
  }
  if (at_statement_end() || is(Tok::kSemicolon)) {
    return outer;
  }
  do {
    outer->args.push_back(command_argument());
  } while (accept(Tok::kComma));
  return outer;
}

/// After a call: `\x: …` or a colon block becomes its last argument.
ExprPtr Parser::with_tail(ExprPtr expr) {
  if (expr->kind != ExprKind::kCall) {
    return expr;
  }
  auto& call = as<CallExpr>(*expr);
  if (is(Tok::kBackslash)) {
    call.args.push_back(trailing_lambda());
  } else if (starts_block_tail(pos_)) {
    append_block(call);
  }
  return expr;
}

/// `\x: …` after a call. Unlike another lambda's, its body may be a statement.
Arg Parser::trailing_lambda() {
  auto node = make<LambdaExpr>(here());
  backslash_params(*node);
  expect(Tok::kColon, "after the lambda parameters");
  if (opens_indented()) {
    node->body = indented_block();
  } else {
    Level level(*this);
    node->body.span = here();
    node->body.statements.push_back(statement());
  }
  return {ArgKind::kPositional, kNoSymbol, std::move(node)};
}

void Parser::append_block(CallExpr& call) {
  auto block = make<LambdaExpr>(here());
  advance();
  block->scope_block = true;
  block->body = indented_block();
  call.args.push_back({ArgKind::kPositional, kNoSymbol, std::move(block)});
}

}  // namespace spl
