// Blocks, lines, and every statement that is not a declaration.
#include <string>

#include "parser.h"

namespace spl {
namespace {

/// The operator of `+=` and its like.
std::optional<BinaryOp> compound_operator(Tok kind) {
  switch (kind) {
    case Tok::kPlusAssign: return BinaryOp::kAdd;
    case Tok::kMinusAssign: return BinaryOp::kSubtract;
    case Tok::kStarAssign: return BinaryOp::kMultiply;
    case Tok::kSlashAssign: return BinaryOp::kDivide;
    case Tok::kPercentAssign: return BinaryOp::kRemainder;
    default: return std::nullopt;
  }
}

}  // namespace

// ---- Blocks ---------------------------------------------------------------------------------------------

Module Parser::module() {
  Module module;
  module.file = file_.id;
  try {
    for (context_.indent = current().indent; current().kind != Tok::kEof; context_.indent = current().indent) {
      lines(module.statements);
      if (current().kind != Tok::kEof) wrong_indentation();
    }
  } catch (const Abandon&) {
    return module;  // too many errors
  }
  const Token& first = stream_.tokens.front();
  if (first.kind == Tok::kText && first.text.triple) module.doc = take_docstring(module.statements, 0);
  return module;
}

void Parser::lines(std::vector<StmtPtr>& out) {
  each_line([&] { inline_statements(out); });
}

/// Reads the lines of one block, up to a shallower one or the bracket that ends it. After an error goes on with
/// the next line; but inside brackets the whole statement round them is given up, as their end is unknown.
void Parser::each_line(const std::function<void()>& read) {
  constexpr size_t kEnough = 20;
  while (current().kind != Tok::kEof && current().line_start && current().indent >= context_.indent) {
    const size_t start = pos_;
    if (current().indent > context_.indent) {
      wrong_indentation();
      skip_statement(start);
      continue;
    }
    try {
      begin_line();
      read();
      check_statement_end();
    } catch (const Abandon&) {
      if (context_.bracket != kNone || diagnostics_.size() >= kEnough) throw;
      skip_statement(start);
    }
  }
}

void Parser::wrong_indentation() {
  if (previous().indent > current().indent || context_.indent > current().indent) {
    complain(here(), "this indentation matches no block around it");
  } else {
    complain(here(), "this line is indented too deeply",
             "its block is indented by " + std::to_string(context_.indent) + " columns");
  }
}

/// The current token starts a line; from here on it counts as itself.
void Parser::begin_line() {
  opened_ = pos_;
  refresh();
}

/// `a; b; c`, up to whatever ends the last.
void Parser::inline_statements(std::vector<StmtPtr>& out) {
  do {
    out.push_back(statement());
  } while (accept(Tok::kSemicolon) && !at_statement_end());
}

bool Parser::opens_indented() const {
  return current().line_start && current().kind != Tok::kEof && current().indent > context_.indent;
}

/// An indented comment may stand for a body.
bool Parser::only_comments() const {
  for (auto it = stream_.comments.rbegin(); it != stream_.comments.rend() && it->before_token >= pos_; ++it) {
    const bool own_line = it->span.line != previous().line;
    if (it->before_token == pos_ && own_line && it->span.column > context_.indent + 1) return true;
  }
  return false;
}

/// From here on lines count, and the current one gives the block's indentation.
void Parser::enter_indented() {
  const size_t bracket = context_.bracket;
  context_ = Context{};
  context_.bracket = bracket;
  context_.indent = current().indent;
}

Block Parser::indented_block() {
  Level level(*this);
  Scope scope(*this);
  Block block;
  block.span = here();
  enter_indented();
  lines(block.statements);
  return block;
}

/// After the colon: an indented block, or statements on the same line.
Block Parser::block_after_colon() {
  if (opens_indented()) return indented_block();
  if (only_comments()) return Block{here(), {}};
  if (current().line_start || is(Tok::kEof)) {
    fail_at(from(span_of(previous())), "expected an indented block after this",
            "indent the next line, or write 'pass'");
  }
  Level level(*this);
  Block block;
  block.span = here();
  inline_statements(block.statements);
  return block;
}

/// The body of a control statement: a colon block or a brace block.
Block Parser::body(const char* after) {
  if (is(Tok::kLeftBrace)) return brace_block();
  if (is(Tok::kAssign)) fail("'=' assigns; a condition compares with '=='");
  expect(Tok::kColon, after);
  return block_after_colon();
}

Block Parser::brace_block() {
  Level level(*this);
  Scope scope(*this);
  Block block;
  block.span = here();
  const uint32_t outer_indent = context_.indent;
  context_ = Context{};
  context_.indent = outer_indent;
  context_.bracket = pos_;
  advance();
  while (current().kind != Tok::kRightBrace && current().kind != Tok::kEof) {
    if (current().line_start) context_.indent = current().indent;
    begin_line();
    inline_statements(block.statements);
    if (current().kind != Tok::kRightBrace) check_statement_end();
  }
  refresh();
  begin_line();
  close_bracket(Tok::kRightBrace, "after the block");
  return block;
}

bool Parser::at_statement_end() const {
  if (kind_ == Tok::kNewline || kind_ == Tok::kEof) return true;
  if (context_.bracket == kNone) return false;
  return kind_ == Tok::kRightParen || kind_ == Tok::kRightBracket || kind_ == Tok::kRightBrace ||
         kind_ == Tok::kComma;
}

void Parser::check_statement_end() {
  if (at_statement_end()) return;
  std::string hint;
  if (is(Tok::kSlashSlash)) hint = "comments start with '#'";
  if (is(Tok::kCaret)) hint = "'**' is power, 'xor' combines bits";
  if (is(Tok::kTildeAssign) || is(Tok::kTildeArrow)) hint = "suspension with '~' is not supported";
  if (is(Tok::kRightParen) || is(Tok::kRightBracket) || is(Tok::kRightBrace)) hint = "nothing opened it";
  if (is(Tok::kElse) || is(Tok::kElif)) hint = "no 'if' goes with it";
  fail("expected the end of the line, found " + found(), hint);
}

// ---- Statements -----------------------------------------------------------------------------------------

StmtPtr Parser::statement() {
  Level level(*this);
  reject_foreign_statement();
  if (starts_declaration()) return declaration();
  if (StmtPtr read = keyword_statement()) return read;
  if (starts_assert()) return assert_statement();
  if (starts_label()) return labelled_statement();
  return expression_statement();
}

/// Statements known by their first word; null if this is none.
StmtPtr Parser::keyword_statement() {
  switch (kind_) {
    case Tok::kVal: case Tok::kVar: case Tok::kLet: case Tok::kConst:
      return bind_statement(false);
    case Tok::kIf: case Tok::kMatch: {
      auto statement = make<ExprStmt>(here());
      statement->value = is(Tok::kIf) ? if_expression(true) : match_expression();
      return statement;
    }
    case Tok::kFor: return for_statement(kNoSymbol);
    case Tok::kWhile: return while_statement(kNoSymbol);
    case Tok::kLoop: return loop_statement(kNoSymbol);
    case Tok::kWith: return with_statement();
    case Tok::kUnsafe: return unsafe_statement();
    case Tok::kReturn: return return_statement();
    case Tok::kBreak: return jump_statement<BreakStmt>();
    case Tok::kContinue: return jump_statement<ContinueStmt>();
    case Tok::kDefer: return defer_statement();
    default: break;
  }
  const bool alone = ahead().line_start || ahead().kind == Tok::kSemicolon || ahead().kind == Tok::kEof ||
                     ahead().kind == Tok::kRightBrace || ahead().kind == Tok::kElse;
  const bool pass_word = is(Tok::kPass) || is_word("pass_do_nothing") || is_word("pass_dn") || is_word("pass_todo");
  if (!pass_word || !alone) return nullptr;
  auto statement = make<PassStmt>(here());
  advance();
  return statement;
}

/// Words of other languages, and of this one's parts that we lack, get a plain answer.
void Parser::reject_foreign_statement() {
  switch (kind_) {
    case Tok::kElse: case Tok::kElif: fail(found() + " without an 'if' before it", "is it indented as its 'if'?");
    case Tok::kCase: fail("'case' outside of a 'match'");
    case Tok::kMixin: case Tok::kMod:
      if (can_name(ahead().kind)) fail(found() + " is not supported");
      return;
    case Tok::kYield: case Tok::kSuper: fail(found() + " is not supported");
    case Tok::kSpawn: fail("'spawn' is not yet supported", "thread.spawn(\\: …) runs code beside this");
    case Tok::kName: break;
    default: return;
  }
  const Token& next = ahead();
  const bool names_something = next.kind == Tok::kName && !next.line_start;
  const std::string_view word = spelling(current());
  if (names_something) {
    if (word == "actor") fail("actors are not yet supported");
    if (word == "macro" || word == "bitfield" || word == "unit" || word == "aspect") {
      fail(found() + " is not supported");
    }
    if (word == "def" || word == "func" || word == "function") fail("a function is declared with 'fn'");
    if (word == "switch") fail("this is written 'match'");
    if (word == "throw" || word == "raise") fail("there are no exceptions", "return Err(…), or call panic(…)");
  }
  if (word == "elsif" || word == "elseif") fail("this is written 'elif'");
  if (next.kind == Tok::kColon && (word == "try" || word == "except" || word == "finally")) {
    fail("there are no exceptions", "use Result and '?', or attempt(\\: …)");
  }
  if (word == "asm" && (next.kind == Tok::kColon || next.kind == Tok::kLeftBrace)) fail("'asm' is not supported");
}

StmtPtr Parser::bind_statement(bool exported) {
  auto statement = make<BindStmt>(here());
  statement->exported = exported;
  statement->bind = is(Tok::kVal)   ? BindKind::kVal
                    : is(Tok::kVar) ? BindKind::kVar
                    : is(Tok::kLet) ? BindKind::kLet
                                    : BindKind::kConst;
  const bool needs_value = statement->bind == BindKind::kVal || statement->bind == BindKind::kConst;
  advance();
  accept(Tok::kMut);
  const SourceSpan start = here();
  statement->pattern = pattern();
  if (is(Tok::kComma)) {
    auto tuple = make<TuplePattern>(start);
    tuple->elements.push_back(std::move(statement->pattern));
    while (accept(Tok::kComma)) tuple->elements.push_back(pattern());
    statement->pattern = std::move(tuple);
  }
  if (accept(Tok::kColon)) statement->type = type();
  if (!is(Tok::kAssign) && !needs_value && statement->type) return statement;
  expect(Tok::kAssign, "after the name");
  statement->value = assigned_value();
  return statement;
}

StmtPtr Parser::return_statement() {
  auto statement = make<ReturnStmt>(here());
  advance();
  const bool bare = at_statement_end() || is(Tok::kSemicolon) || is(Tok::kElse) || is(Tok::kElif);
  if (!bare) statement->value = assigned_value();
  return statement;
}

template <class Jump>
StmtPtr Parser::jump_statement() {
  auto statement = make<Jump>(here());
  advance();
  if (is_name()) statement->label = expect_name("a label");
  return statement;
}

StmtPtr Parser::defer_statement() {
  auto statement = make<DeferStmt>(here());
  advance();
  if (accept(Tok::kColon)) {
    statement->body = block_after_colon();
  } else {
    statement->body.span = here();
    statement->body.statements.push_back(this->statement());
  }
  return statement;
}

/// `assert` is a name where it is assigned to or asked for a member.
bool Parser::starts_assert() const {
  if (!is_word("assert") || ahead().line_start) return false;
  switch (ahead().kind) {
    case Tok::kAssign: case Tok::kDot: case Tok::kComma: case Tok::kColon: return false;
    default: return true;
  }
}

StmtPtr Parser::assert_statement() {
  auto statement = make<AssertStmt>(here());
  advance();
  SourceSpan start = here();
  statement->condition = expression();
  start = from(start);
  statement->text = file_.text.substr(start.start, start.length);
  if (accept(Tok::kComma)) {
    join_line();
    statement->message = expression();
  } else if (statement->condition->kind == ExprKind::kTuple) {  // assert(condition, message)
    auto tuple = std::move(statement->condition);
    auto& elements = as<TupleExpr>(*tuple).elements;
    if (elements.size() != 2) fail_at(start, "assert takes a condition and perhaps a message");
    statement->condition = std::move(elements[0]);
    statement->message = std::move(elements[1]);
  }
  return statement;
}

bool Parser::starts_label() const {
  if (!is(Tok::kName) || ahead().kind != Tok::kColon || ahead(2).line_start) return false;
  const Tok next = ahead(2).kind;
  return next == Tok::kFor || next == Tok::kWhile || next == Tok::kLoop;
}

StmtPtr Parser::labelled_statement() {
  const Symbol label = expect_name("a label");
  expect(Tok::kColon, "after the label");
  if (is(Tok::kFor)) return for_statement(label);
  return is(Tok::kWhile) ? while_statement(label) : loop_statement(label);
}

StmtPtr Parser::for_statement(Symbol label) {
  auto statement = make<ForStmt>(here());
  statement->label = label;
  advance();
  statement->pattern = loop_pattern(statement->second);
  expect(Tok::kIn, "after the loop's variable");
  statement->iterable = header_expression();
  statement->body = body("after what the loop runs over");
  return statement;
}

StmtPtr Parser::while_statement(Symbol label) {
  auto statement = make<WhileStmt>(here());
  statement->label = label;
  advance();
  statement->condition = condition();
  statement->body = body("after the condition");
  return statement;
}

StmtPtr Parser::loop_statement(Symbol label) {
  auto statement = make<LoopStmt>(here());
  statement->label = label;
  advance();
  statement->body = body("after 'loop'");
  return statement;
}

StmtPtr Parser::with_statement() {
  auto statement = make<WithStmt>(here());
  advance();
  do {
    Scope scope(*this);
    context_.no_cast = context_.no_braces = true;
    WithItem item;
    item.resource = expression();
    if (accept(Tok::kAs)) item.name = expect_name("a name after 'as'");
    statement->items.push_back(std::move(item));
  } while (accept(Tok::kComma));
  statement->body = body("after the resource");
  return statement;
}

StmtPtr Parser::unsafe_statement() {
  auto statement = make<UnsafeStmt>(here());
  advance();
  if (is(Tok::kLeftParen)) statement->args = arguments(Tok::kRightParen);
  statement->body = body("after 'unsafe'");
  return statement;
}

/// A command, an assignment, or an expression for its effect or its value.
StmtPtr Parser::expression_statement() {
  const SourceSpan start = here();
  const bool bare_print = is_word("print") || is_word("println");
  ExprPtr value = command_or_expression();
  const bool several = is(Tok::kComma) && more_targets();
  if (several || is(Tok::kAssign) || compound_operator(kind_)) return assignment(std::move(value));

  auto statement = make<ExprStmt>(from(start));
  if (bare_print && value->kind == ExprKind::kName) {  // `print` alone is an empty line
    auto call = make<CallExpr>(value->span);
    call->callee = std::move(value);
    value = std::move(call);
  }
  statement->value = std::move(value);
  return statement;
}

StmtPtr Parser::assignment(ExprPtr first) {
  auto statement = make<AssignStmt>(first->span);
  statement->targets.push_back(std::move(first));
  while (accept(Tok::kComma)) statement->targets.push_back(expression());
  for (const auto& target : statement->targets) check_target(*target);
  statement->op = compound_operator(kind_);
  if (statement->op && statement->targets.size() > 1) fail("a compound assignment has one target");
  if (!statement->op && !is(Tok::kAssign)) fail_expected("'='");
  advance();
  statement->value = assigned_value();
  if (is(Tok::kAssign)) fail("an assignment is no value", "assign on two lines");
  return statement;
}

/// At a comma: does an `=` follow on this line, so that `a, b = …` is meant?
bool Parser::more_targets() const {
  int brackets = 0;
  for (size_t i = pos_; i < stream_.tokens.size(); ++i) {
    const Token& token = stream_.tokens[i];
    if (brackets == 0 && token.line_start) return false;
    switch (token.kind) {
      case Tok::kLeftParen: case Tok::kLeftBracket: case Tok::kLeftBrace: ++brackets; break;
      case Tok::kRightParen: case Tok::kRightBracket: case Tok::kRightBrace:
        if (--brackets < 0) return false;
        break;
      case Tok::kAssign:
        if (brackets == 0) return true;
        break;
      case Tok::kSemicolon: case Tok::kColon: case Tok::kEof:
        if (brackets == 0) return false;
        break;
      default: break;
    }
  }
  return false;
}

void Parser::check_target(const Expr& target) {
  switch (target.kind) {
    case ExprKind::kName: case ExprKind::kField: case ExprKind::kTupleField: case ExprKind::kIndex: return;
    case ExprKind::kTuple:
      for (const auto& element : as<TupleExpr>(target).elements) check_target(*element);
      return;
    case ExprKind::kCompare: case ExprKind::kBinary:
      fail_at(here(), "this cannot be assigned to", "'==' compares");
    default: fail_at(target.span, "this cannot be assigned to");
  }
}

/// What stands right of `=` or after `return`; `a, b` is a tuple.
ExprPtr Parser::assigned_value() {
  const SourceSpan start = here();
  if (is(Tok::kNewline) && opens_indented()) begin_line();
  ExprPtr value = command_or_expression();
  if (!is(Tok::kComma) || context_.bracket != kNone) return value;
  auto tuple = make<TupleExpr>(start);
  tuple->elements.push_back(std::move(value));
  while (accept(Tok::kComma)) tuple->elements.push_back(expression());
  return tuple;
}

/// An expression before a body: a brace after it opens the body.
ExprPtr Parser::header_expression() {
  Scope scope(*this);
  context_.no_braces = true;
  return expression();
}

Condition Parser::condition() {
  Condition condition;
  if (is(Tok::kVal) || is(Tok::kVar) || is(Tok::kLet)) {
    condition.kind = is(Tok::kLet) ? ConditionKind::kMatch : ConditionKind::kPresent;
    advance();
    accept(Tok::kMut);
    condition.pattern = pattern();
    if (condition.pattern->kind == PatternKind::kBinding) condition.kind = ConditionKind::kPresent;
    expect(Tok::kAssign, "after the pattern");
  }
  condition.value = header_expression();
  return condition;
}

}  // namespace spl
