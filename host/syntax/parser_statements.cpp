// Statements other than declarations.
#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_set>

#include "host/syntax/parser.h"

namespace spl {
namespace {

/// The operator of `+=` and its like.
std::optional<BinaryOp> compound_operator(Tok kind) {
  switch (kind) {
    case Tok::kPlusAssign:
      return BinaryOp::kAdd;
    case Tok::kMinusAssign:
      return BinaryOp::kSubtract;
    case Tok::kStarAssign:
      return BinaryOp::kMultiply;
    case Tok::kSlashAssign:
      return BinaryOp::kDivide;
    case Tok::kPercentAssign:
      return BinaryOp::kRemainder;
    case Tok::kSlashSlashAssign:
      return BinaryOp::kFloorDivide;
    case Tok::kStarStarAssign:
      return BinaryOp::kPower;
    case Tok::kAtAssign:
      return BinaryOp::kMatmul;
    case Tok::kAmpersandAssign:
      return BinaryOp::kBitAnd;
    case Tok::kPipeAssign:
      return BinaryOp::kBitOr;
    case Tok::kCaretAssign:
      return BinaryOp::kBitXor;
    case Tok::kShiftLeftAssign:
      return BinaryOp::kShiftLeft;
    case Tok::kShiftRightAssign:
      return BinaryOp::kShiftRight;
    default:
      return std::nullopt;
  }
}

}  // namespace

// ---- Statements -----------------------------------------------------------------------------------------

StmtPtr Parser::statement() {
  Level level(*this);
  statement_ = pos_;
  if (starts_try()) {
    return try_statement();
  }
  reject_foreign_statement();
  if (starts_declaration()) {
    return declaration();
  }
  if (StmtPtr read = keyword_statement()) {
    return read;
  }
  if (starts_assembly()) {
    return assembly();
  }
  if (starts_assert()) {
    return assert_statement();
  }
  if (is_name() && ahead().kind == Tok::kColon && ahead(2).kind == Tok::kAssign && !ahead(2).space_before) {
    return short_declaration();
  }
  if (is_word("bind") && ahead().kind == Tok::kName && ahead(2).kind == Tok::kAssign) {
    return trait_binding();
  }
  if (starts_label()) {
    return labeled_statement();
  }
  if (StmtPtr read = python_statement()) {
    return read;
  }
  return expression_statement();
}

/// Statements that start with a keyword. Returns null if none follows.
StmtPtr Parser::keyword_statement() {
  switch (kind_) {
    case Tok::kVal:
    case Tok::kVar:
    case Tok::kLet:
    case Tok::kConst:
      return bind_statement(false);
    case Tok::kIf:
    case Tok::kMatch: {
      auto statement = make<ExprStmt>(here());
      statement->value = is(Tok::kIf) ? if_expression(true) : match_expression();
      return statement;
    }
    case Tok::kFor:
      return for_statement(kNoSymbol);
    case Tok::kAsync:
      return async_statement();
    case Tok::kWhile:
      return while_statement(kNoSymbol);
    case Tok::kLoop:
      return loop_statement(kNoSymbol);
    case Tok::kWith:
      return with_statement();
    case Tok::kUnsafe:
      return unsafe_statement();
    case Tok::kReturn:
      return return_statement();
    case Tok::kBreak:
      return jump_statement<BreakStmt>();
    case Tok::kContinue:
      return jump_statement<ContinueStmt>();
    case Tok::kDefer:
      return defer_statement();
    default:
      break;
  }
  if (!is_pass()) {
    return nullptr;
  }
  auto statement = make<PassStmt>(here());
  skip_pass();
  return statement;
}

/// Whether `pass`, or another word for it, is a whole statement here. The other words may have a reason:
/// `pass_todo("later")`.
bool Parser::is_pass() const {
  const bool is_other = is_word("pass_do_nothing") || is_word("pass_dn") || is_word("pass_todo");
  if (!is(Tok::kPass) && !is_other) {
    return false;
  }
  const bool has_reason = is_other && ahead().kind == Tok::kLeftParen && ahead(2).kind == Tok::kText &&
                          ahead(3).kind == Tok::kRightParen;
  const Token& next = ahead(has_reason ? 4 : 1);
  return next.line_start || next.kind == Tok::kSemicolon || next.kind == Tok::kEof ||
         next.kind == Tok::kRightBrace || next.kind == Tok::kElse;
}

void Parser::skip_pass() {
  advance();
  if (is(Tok::kLeftParen)) {
    arguments(Tok::kRightParen);
  }
}

/// Reports keywords of other languages and unsupported features with a specific message.
void Parser::reject_foreign_statement() {
  switch (kind_) {
    case Tok::kElse:
    case Tok::kElif:
      fail(found() + " without a matching 'if'", "indent it like its 'if'");
    case Tok::kCase:
      fail("'case' outside 'match'");
    case Tok::kMixin:
      if (can_name(ahead().kind)) {
        fail(found() + " is not supported");
      }
      return;
    case Tok::kIn:
      if (ahead().kind == Tok::kColon) {
        fail("contracts are not supported", "use assert");
      }
      return;
    case Tok::kName:
      reject_foreign_name();
      return;
    default:
      return;
  }
}

void Parser::reject_foreign_name() {
  const Token& next = ahead();
  const std::string_view word = spelling(current());
  if (next.kind == Tok::kName && !next.line_start) {
    reject_foreign_declaration(word);
  }
  if (word == "throw" && next.kind == Tok::kText && !next.line_start) {
    reject_foreign_declaration(word);
  }
  if (word == "elsif" || word == "elseif") {
    fail(found() + " is not a keyword", "use 'elif'");
  }
  const bool opens = next.kind == Tok::kColon || (next.kind == Tok::kName && !next.line_start);
  if (opens && (word == "except" || word == "finally")) {
    fail(in_quotes(word) + " without a matching 'try'", "indent it like its 'try'");
  }
  if (next.kind == Tok::kColon && (word == "requires" || word == "ensures" || word == "invariant")) {
    fail("contracts are not supported", "use assert");
  }
}

/// A word followed by a name.
void Parser::reject_foreign_declaration(std::string_view word) {
  if (word == "macro" || word == "unit" || word == "aspect") {
    fail(found() + " is not supported");
  }
  if (word == "def" || word == "func" || word == "function") {
    fail(found() + " is not a keyword", "declare a function with 'fn'");
  }
  if (word == "switch") {
    fail("'switch' is not a keyword", "use 'match'");
  }
  if (word == "throw") {
    fail("'throw' is not a keyword", "use 'raise'");
  }
  if (word == "foreach" && ahead(2).kind == Tok::kIn) {
    fail("'foreach' is not a keyword", "use 'for'");
  }
  static const std::unordered_set<std::string_view> types = {
      "int", "float", "double", "bool", "string", "str", "char",  "long", "text", "i32",
      "i64", "u8",    "u32",    "u64",  "f32",    "f64", "usize", "auto", "Int",  "String",
  };
  if (types.contains(word) && ahead(2).kind == Tok::kAssign) {
    const std::string name(spelling(ahead()));
    fail("a type cannot declare '" + name + "'",
         "write 'var " + name + " = …', or 'val' if it does not change");
  }
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
    while (accept(Tok::kComma)) {
      tuple->elements.push_back(pattern());
    }
    statement->pattern = std::move(tuple);
  }
  if (accept(Tok::kColon)) {
    statement->type = type();
  }
  if (!is(Tok::kAssign) && !needs_value && statement->type) {
    return statement;
  }
  expect(Tok::kAssign, "after the name");
  if (starts_memory_mapped()) {
    statement->bind = BindKind::kVar;  // `val port = @address(e) @volatile var: u8` names what is assigned
  }
  statement->value = assigned_value();
  return statement;
}

/// `x := e` is `var x = e`.
StmtPtr Parser::short_declaration() {
  auto statement = make<BindStmt>(here());
  statement->bind = BindKind::kVar;
  statement->pattern = pattern();
  advance();
  advance();
  statement->value = assigned_value();
  return statement;
}

/// `bind Trait = Type` selects the type that a compiler uses for the trait. It has no effect here.
StmtPtr Parser::trait_binding() {
  auto statement = make<PassStmt>(here());
  advance();
  type();
  advance();
  type();
  return statement;
}

StmtPtr Parser::return_statement() {
  auto statement = make<ReturnStmt>(here());
  advance();
  const bool bare = at_statement_end() || is(Tok::kSemicolon) || is(Tok::kElse) || is(Tok::kElif);
  if (!bare) {
    statement->value = value_or_tuple(expression());
  }
  return statement;
}

template <class Jump>
StmtPtr Parser::jump_statement() {
  auto statement = make<Jump>(here());
  advance();
  if (is_name()) {
    statement->label = expect_name("a label");
  }
  return statement;
}

StmtPtr Parser::defer_statement() {
  auto statement = make<DeferStmt>(here());
  advance();
  if (accept(Tok::kColon)) {
    statement->body = block_after_colon();
  } else {
    statement->body.span = here();
    if (is(Tok::kReturn) || is(Tok::kBreak) || is(Tok::kContinue)) {
      fail(found() + " is not allowed in 'defer'");
    }
    statement->body.statements.push_back(this->statement());
  }
  return statement;
}

/// `assert` is a name if an assignment or a member access follows.
bool Parser::starts_assert() const {
  if (!is_word("assert") || ahead().line_start) {
    return false;
  }
  switch (ahead().kind) {
    case Tok::kAssign:
    case Tok::kDot:
    case Tok::kComma:
    case Tok::kColon:
      return false;
    default:
      return true;
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
    if (elements.size() != 2) {
      fail_at(start, "assert takes a condition and an optional message");
    }
    statement->condition = std::move(elements[0]);
    statement->message = std::move(elements[1]);
  }
  return statement;
}

bool Parser::starts_label() const {
  if (!is(Tok::kName) || ahead().kind != Tok::kColon || ahead(2).line_start) {
    return false;
  }
  const Tok next = ahead(2).kind;
  return next == Tok::kFor || next == Tok::kWhile || next == Tok::kLoop;
}

StmtPtr Parser::labeled_statement() {
  const Symbol label = expect_name("a label");
  expect(Tok::kColon, "after the label");
  if (is(Tok::kFor)) {
    return for_statement(label);
  }
  return is(Tok::kWhile) ? while_statement(label) : loop_statement(label);
}

/// `for (int i = 0; …)`, `for (let i = 0; …)` and `for i = 0; …`, as in C and its kin.
void Parser::reject_counting_loop() {
  size_t at = is(Tok::kLeftParen) ? 1 : 0;
  const Tok first = ahead(at).kind;
  const bool declares = first == Tok::kVar || first == Tok::kLet || first == Tok::kVal;
  if (declares || ahead(at + 1).kind == Tok::kName) {
    ++at;
  }
  if (ahead(at).kind == Tok::kName && ahead(at + 1).kind == Tok::kAssign) {
    fail("this form of 'for' is not supported", "write 'for i in 0..n:'");
  }
}

StmtPtr Parser::for_statement(Symbol label) {
  auto statement = make<ForStmt>(here());
  const Token first = stream_.tokens[statement_];
  statement->label = label;
  advance();
  reject_counting_loop();
  ExprPtr target = loop_target();
  if (target) {
    auto variable = make<BindingPattern>(target->span);
    variable->name = intern("#element" + std::to_string(target->span.start));
    statement->pattern = std::move(variable);
  } else {
    statement->pattern = loop_pattern(statement->second);
  }
  expect(Tok::kIn, "after the loop variable");
  statement->iterable = header_expression();
  if (is(Tok::kComma)) {
    Scope scope(*this);
    context_.no_braces = true;
    statement->iterable = value_or_tuple(std::move(statement->iterable));
  }
  statement->body = body("after the iterable");
  if (target) {
    auto element = make<NameExpr>(target->span);
    element->name = as<BindingPattern>(*statement->pattern).name;
    auto assignment = make<AssignStmt>(target->span);
    assignment->targets.push_back(std::move(target));
    assignment->value = std::move(element);
    auto& statements = statement->body.statements;
    statements.insert(statements.begin(), std::move(assignment));
  }
  statement->otherwise = loop_otherwise(first);
  return statement;
}

/// Python's `for self.epoch in …` and `for xs[i] in …`: the place to which each round assigns; null for
/// variables.
ExprPtr Parser::loop_target() {
  const bool is_place = is_port_ && (is(Tok::kSelf) || is_name()) &&
                        (ahead().kind == Tok::kDot || ahead().kind == Tok::kLeftBracket);
  if (!is_place) {
    return nullptr;
  }
  ExprPtr target = postfix();
  check_target(*target);
  return target;
}

/// The block of an `else` below a loop. Both start a line, at the same indentation; `first` starts the
/// loop's.
std::optional<Block> Parser::loop_otherwise(const Token& first) {
  const Token& token = current();
  if (kind_ != Tok::kNewline || token.kind != Tok::kElse || !first.line_start ||
      token.indent != first.indent) {
    return std::nullopt;
  }
  begin_line();
  advance();
  return body("after 'else'");
}

StmtPtr Parser::while_statement(Symbol label) {
  auto statement = make<WhileStmt>(here());
  const Token first = stream_.tokens[statement_];
  statement->label = label;
  advance();
  statement->condition = condition();
  statement->body = body("after the condition");
  statement->otherwise = loop_otherwise(first);
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
    if (accept(Tok::kAs)) {
      item.name = expect_name("a name after 'as'");
    }
    statement->items.push_back(std::move(item));
  } while (accept(Tok::kComma));
  statement->body = body("after the resource");
  return statement;
}

/// `async for x in e` and `async with e`: loops over, or enters, what functions of the host make of `e`.
StmtPtr Parser::async_statement() {
  if (ahead().kind != Tok::kFor && ahead().kind != Tok::kWith) {
    return nullptr;
  }
  advance();
  if (is(Tok::kFor)) {
    StmtPtr loop = for_statement(kNoSymbol);
    auto& iterable = static_cast<ForStmt&>(*loop).iterable;
    iterable = call_of("__async_items__", std::move(iterable));
    return loop;
  }
  StmtPtr scope = with_statement();
  for (WithItem& item : static_cast<WithStmt&>(*scope).items) {
    item.resource = call_of("__async_manager__", std::move(item.resource));
  }
  return scope;
}

StmtPtr Parser::unsafe_statement() {
  auto statement = make<UnsafeStmt>(here());
  advance();
  if (is(Tok::kLeftParen)) {
    statement->args = arguments(Tok::kRightParen);
  }
  statement->body = body("after 'unsafe'");
  return statement;
}

/// A command, an assignment, or an expression for its effect or its value.
StmtPtr Parser::expression_statement() {
  const SourceSpan start = here();
  const bool bare_print = is_word("print") || is_word("println");
  ExprPtr value = command_or_expression();
  if (StmtPtr annotated = annotated_assignment(value)) {
    return annotated;
  }
  const bool several = is(Tok::kComma) && more_targets();
  if (several || starts_assignment()) {
    return assignment(std::move(value));
  }

  if (StmtPtr change = change_of_default(value)) {
    return change;
  }
  if (ExprPtr shuffled = shuffled_in_place(value)) {
    return statement_of(start, std::move(shuffled));
  }
  auto statement = make<ExprStmt>(from(start));
  if (bare_print && value->kind == ExprKind::kName) {  // `print` alone is an empty line
    auto call = make<CallExpr>(value->span);
    call->callee = std::move(value);
    value = std::move(call);
  }
  statement->value = std::move(value);
  return statement;
}

bool Parser::starts_assignment() const { return is(Tok::kAssign) || compound_operator(kind_); }

StmtPtr Parser::assignment(ExprPtr first) {
  auto statement = make<AssignStmt>(first->span);
  statement->targets.push_back(std::move(first));
  while (accept(Tok::kComma) && !is(Tok::kAssign)) {
    statement->targets.push_back(expression());
  }
  if (previous().kind == Tok::kComma && statement->targets.size() == 1) {  // `x, = t`
    auto only = make<TupleExpr>(statement->span);
    only->elements.push_back(std::move(statement->targets[0]));
    statement->targets[0] = std::move(only);
  }
  const std::optional<size_t> starred = starred_target(statement->targets);
  std::vector<StmtPtr> before, later;
  for (auto& target : statement->targets) {
    if (target->kind == ExprKind::kIndex) {
      split_default(static_cast<IndexExpr&>(*target).object, before);
    }
    split_starred(target, later);
    list_to_tuple(target);
    check_target(*target);
  }
  statement->op = compound_operator(kind_);
  if (statement->op && statement->targets.size() > 1) {
    fail("a compound assignment must have one target");
  }
  if (!statement->op && !is(Tok::kAssign)) {
    fail_expected("'='");
  }
  advance();
  statement->value = assigned_value();
  while (!statement->op && accept(Tok::kAssign)) {
    list_to_tuple(statement->value);
    check_target(*statement->value);
    statement->chained.push_back(std::move(statement->value));
    statement->value = assigned_value();
  }
  if (is(Tok::kAssign)) {
    fail("an assignment is not an expression", "use two statements");
  }
  if (starred && !statement->chained.empty()) {
    fail_at(statement->span, "a chained assignment cannot have a starred target", "use two statements");
  }
  if (starred) {
    statement->value = parts_of(std::move(statement->value), *starred, statement->targets.size());
  }
  if (before.empty() && later.empty()) {
    return statement;
  }
  auto all = make<UnsafeStmt>(statement->span);
  all->body.span = statement->span;
  all->body.statements = std::move(before);
  all->body.statements.push_back(std::move(statement));
  std::move(later.begin(), later.end(), std::back_inserter(all->body.statements));
  return all;
}

/// A target with a star among its elements, as in `(a, *rest), b = …`, becomes a variable that a later
/// statement takes apart.
void Parser::split_starred(ExprPtr& target, std::vector<StmtPtr>& later) {
  if (target->kind == ExprKind::kTuple) {
    for (ExprPtr& element : static_cast<TupleExpr&>(*target).elements) {
      split_starred(element, later);
    }
    return;
  }
  static const Symbol tuple = intern("tuple");  // what with_spreads() makes of `(a, *rest)`
  Expr* array = target.get();
  if (target->kind == ExprKind::kCall && as<CallExpr>(*target).callee->kind == ExprKind::kName &&
      as<NameExpr>(*as<CallExpr>(*target).callee).name == tuple && as<CallExpr>(*target).args.size() == 1) {
    array = static_cast<CallExpr&>(*target).args[0].value.get();
  }
  const auto is_spread = [](const Element& element) { return element.spread; };
  if (array->kind != ExprKind::kArray ||
      std::none_of(as<ArrayExpr>(*array).elements.begin(), as<ArrayExpr>(*array).elements.end(), is_spread)) {
    return;
  }
  std::vector<Element> elements = std::move(static_cast<ArrayExpr&>(*array).elements);
  const SourceSpan span = target->span;
  auto whole = make<NameExpr>(span), read = make<NameExpr>(span);
  whole->name = read->name = intern("#sequence" + std::to_string(span.start));
  target = std::move(whole);
  later.push_back(elements_assignment(std::move(elements), std::move(read)));
}

StmtPtr Parser::elements_assignment(std::vector<Element> elements, ExprPtr value) {
  auto statement = make<AssignStmt>(value->span);
  std::optional<size_t> starred;
  for (Element& element : elements) {
    if (element.spread && starred) {
      fail_at(element.value->span, "only one target may have a star");
    }
    if (element.spread) {
      starred = statement->targets.size();
    }
    list_to_tuple(element.value);
    check_target(*element.value);
    statement->targets.push_back(std::move(element.value));
  }
  if (statement->targets.size() == 1) {
    auto only = make<TupleExpr>(statement->span);
    only->elements = std::move(statement->targets);
    statement->targets.clear();
    statement->targets.push_back(std::move(only));
  }
  statement->value = parts_of(std::move(value), *starred, elements.size());
  return statement;
}

/// The values for `count` targets, of which the one at `starred` collects what the others leave.
ExprPtr Parser::parts_of(ExprPtr value, size_t starred, size_t count) {
  ExprPtr call = call_of("__starred__", std::move(value));
  for (const size_t number : {starred, count - starred - 1}) {
    auto node = make<IntExpr>(call->span);
    node->value = static_cast<int64_t>(number);
    static_cast<CallExpr&>(*call).args.emplace_back().value = std::move(node);
  }
  return call;
}

/// Which of several targets is `*rest`. Replaces it by `rest`.
std::optional<size_t> Parser::starred_target(std::vector<ExprPtr>& targets) {
  std::optional<size_t> starred;
  for (size_t i = 0; i < targets.size() && targets.size() > 1; ++i) {
    if (!has_star(*targets[i])) {
      continue;
    }
    if (starred) {
      fail_at(targets[i]->span, "only one target may have a star");
    }
    starred = i;
    ExprPtr target = std::move(static_cast<UnaryExpr&>(*targets[i]).operand);
    targets[i] = std::move(target);
  }
  return starred;
}

/// At a comma: whether an `=` follows on this line, as in `a, b = …`.
bool Parser::more_targets() const {
  int brackets = 0;
  for (size_t i = pos_; i < stream_.tokens.size(); ++i) {
    const Token& token = stream_.tokens[i];
    if (brackets == 0 && token.line_start) {
      return false;
    }
    switch (token.kind) {
      case Tok::kLeftParen:
      case Tok::kLeftBracket:
      case Tok::kLeftBrace:
        ++brackets;
        break;
      case Tok::kRightParen:
      case Tok::kRightBracket:
      case Tok::kRightBrace:
        if (--brackets < 0) {
          return false;
        }
        break;
      case Tok::kAssign:
      case Tok::kPlusAssign:
      case Tok::kMinusAssign:
      case Tok::kStarAssign:
      case Tok::kSlashAssign:
      case Tok::kPercentAssign:
      case Tok::kSlashSlashAssign:
      case Tok::kStarStarAssign:
      case Tok::kAtAssign:
      case Tok::kAmpersandAssign:
      case Tok::kPipeAssign:
      case Tok::kCaretAssign:
      case Tok::kShiftLeftAssign:
      case Tok::kShiftRightAssign:
        if (brackets == 0) {
          return true;
        }
        break;
      case Tok::kSemicolon:
      case Tok::kColon:
      case Tok::kEof:
        if (brackets == 0) {
          return false;
        }
        break;
      default:
        break;
    }
  }
  return false;
}

/// `[a, b] = e` is `(a, b) = e`.
void Parser::list_to_tuple(ExprPtr& target) const {
  const auto is_spread = [](const Element& element) { return element.spread; };
  if (target->kind == ExprKind::kArray && std::none_of(as<ArrayExpr>(*target).elements.begin(),
                                                       as<ArrayExpr>(*target).elements.end(), is_spread)) {
    auto tuple = make<TupleExpr>(target->span);
    for (Element& element : static_cast<ArrayExpr&>(*target).elements) {
      tuple->elements.push_back(std::move(element.value));
    }
    target = std::move(tuple);
  }
}

void Parser::check_target(const Expr& target) {
  switch (target.kind) {
    case ExprKind::kName:
    case ExprKind::kSelf:
    case ExprKind::kField:
    case ExprKind::kTupleField:
    case ExprKind::kIndex:
      return;
    case ExprKind::kTuple:
      for (const auto& element : as<TupleExpr>(target).elements) {
        check_target(*element);
      }
      return;
    case ExprKind::kCompare:
    case ExprKind::kBinary:
      fail_at(here(), "cannot assign to expression", "did you mean '=='?");
    default:
      fail_at(target.span, "cannot assign to expression");
  }
}

/// The right side of `=`.
ExprPtr Parser::assigned_value() {
  if (is(Tok::kNewline) && opens_indented()) {
    begin_line();
  }
  return value_or_tuple(method_of_variable(command_or_expression()));
}

/// `a, b` without parentheses is a tuple, except inside brackets.
ExprPtr Parser::value_or_tuple(ExprPtr value) {
  if (!is(Tok::kComma) || context_.bracket != kNone) {
    return value;
  }
  auto tuple = make<TupleExpr>(value->span);
  tuple->elements.push_back(std::move(value));
  while (accept(Tok::kComma) && !at_statement_end() && !is(Tok::kAssign) && !is(Tok::kColon)) {
    tuple->elements.push_back(expression());
  }
  return with_spreads(std::move(tuple));
}

/// `n := e` inside an expression, which Python's programs write in parentheses or after `if` and `while`.
bool Parser::starts_assigning_expression() const {
  return is_name() && ahead().kind == Tok::kColon && ahead(2).kind == Tok::kAssign &&
         !ahead(2).space_before && !ahead(2).line_start;
}

/// `n := e` assigns and has the value: a block of `n = e` and `n`.
ExprPtr Parser::assigning_expression() {
  Level level(*this);
  const SourceSpan span = here();
  auto target = make<NameExpr>(span);
  target->name = member_name();
  if (!in_body_) {
    inner_variables_.push_back(target->name);
  }
  auto value = make<NameExpr>(span);
  value->name = target->name;
  advance();
  advance();
  auto assignment = make<AssignStmt>(span);
  assignment->targets.push_back(std::move(target));
  assignment->value = expression();
  IfClause always;
  always.span = span;
  auto condition = make<BoolExpr>(span);
  condition->value = true;
  always.condition.value = std::move(condition);
  always.body = block_of(std::move(assignment));
  always.body.statements.push_back(statement_of(span, std::move(value)));
  auto node = make<IfExpr>(span);
  node->clauses.push_back(std::move(always));
  return node;
}

/// An expression before a body. A brace after it opens the body.
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
    if (condition.pattern->kind == PatternKind::kBinding) {
      condition.kind = ConditionKind::kPresent;
    }
    expect(Tok::kAssign, "after the pattern");
  }
  condition.value = header_expression();
  return condition;
}

}  // namespace spl
