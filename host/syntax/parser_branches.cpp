// `if` and `match`, as statements and as values.
#include "host/syntax/parser.h"

namespace spl {

/// `if c: a elif d: b else: e`, with blocks, braces or `then`.
ExprPtr Parser::if_expression(bool is_statement) {
  Level level(*this);
  auto node = make<IfExpr>(here());
  const uint32_t line_indent = current().indent;
  do {
    IfClause clause;
    clause.span = here();
    advance();
    clause.condition = condition();
    clause.body = branch(is_statement);
    node->clauses.push_back(std::move(clause));
    if (!accept_branch(line_indent, is_statement)) {
      return node;
    }
    if (is(Tok::kElif)) {
      continue;
    }
    advance();
  } while (is(Tok::kElif) || (is(Tok::kIf) && !current().line_start));
  if (is(Tok::kLeftBrace) && !brace_is_dict()) {
    node->otherwise = brace_block();
  } else if (is(Tok::kColon) || is(Tok::kNewline) || is(Tok::kEof)) {
    expect(Tok::kColon, "after 'else'");
    node->otherwise = is_statement || opens_indented() ? block_after_colon() : value_block();
  } else {
    node->otherwise = value_block();
  }
  return node;
}

/// The body of an `if` or `elif`.
Block Parser::branch(bool is_statement) {
  if (accept_word("then")) {
    return value_block();
  }
  if (is_statement || is(Tok::kLeftBrace)) {
    return body("after the condition");
  }
  if (is(Tok::kAssign)) {
    fail("unexpected '=' in a condition", "did you mean '=='?");
  }
  expect(Tok::kColon, "after the condition");
  return opens_indented() ? indented_block() : value_block();
}

/// Accepts the line end before an `else` or `elif` that belongs to the `if` with this indentation.
bool Parser::accept_branch(uint32_t line_indent, bool is_statement) {
  const Token& token = current();
  if (token.kind != Tok::kElse && token.kind != Tok::kElif) {
    return false;
  }
  if (kind_ != Tok::kNewline) {
    return true;
  }
  if (token.indent != line_indent && (is_statement || token.indent <= context_.indent)) {
    return false;
  }
  begin_line();
  return true;
}

/// A block of one expression, or of a jump: `else: return nil`.
Block Parser::value_block() {
  Level level(*this);
  Block block;
  if (is(Tok::kNewline) && opens_indented()) {
    begin_line();
  }
  block.span = here();
  if (is(Tok::kReturn) || is(Tok::kBreak) || is(Tok::kContinue)) {
    block.statements.push_back(keyword_statement());
    return block;
  }
  auto statement = make<ExprStmt>(here());
  statement->value = expression();
  block.statements.push_back(std::move(statement));
  return block;
}

ExprPtr Parser::match_expression() {
  Level level(*this);
  auto node = make<MatchExpr>(here());
  advance();
  node->subject = header_expression();
  expect(Tok::kColon, "after the match subject");
  const auto at_level = [&] {
    return current().line_start && current().kind == Tok::kCase && current().indent == context_.indent;
  };
  if (context_.layout && !context_.arms && at_level()) {  // arms that are not indented
    while (at_level()) {
      begin_line();
      node->arms.push_back(match_arm());
      check_statement_end();
    }
    return node;
  }
  if (!opens_indented()) {
    fail_expected("indented cases after 'match'");
  }
  Scope scope(*this);
  enter_indented();
  context_.arms = true;
  each_line([&] { node->arms.push_back(match_arm()); });
  return node;
}

/// `case P if g: body`, `| P -> body`, `P => body`, `P: body`.
MatchArm Parser::match_arm() {
  MatchArm arm;
  arm.span = here();
  if (!accept(Tok::kCase)) {
    accept(Tok::kPipe);
  }
  arm.pattern = alternatives();
  if (accept(Tok::kIf)) {
    Scope scope(*this);
    context_.no_arrow = context_.no_braces = true;
    arm.guard = expression();
  }
  arm.body = arm_body();
  return arm;
}

Block Parser::arm_body() {
  if (accept(Tok::kColon)) {
    return block_after_colon();
  }
  if (!accept(Tok::kArrow) && !accept(Tok::kFatArrow)) {
    fail_expected("':', '->' or '=>' after the pattern");
  }
  if (is(Tok::kLeftBrace) && !brace_is_dict()) {
    return brace_block();
  }
  return block_after_colon();
}

}  // namespace spl
