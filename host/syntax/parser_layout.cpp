// Lines and blocks: statement ends, bodies, and recovery after errors.
#include <iterator>
#include <string>
#include <utility>

#include "host/syntax/parser.h"

namespace spl {

Module Parser::module() {
  Module module;
  module.file = file_.id;
  try {
    for (context_.indent = current().indent; current().kind != Tok::kEof;
         context_.indent = current().indent) {
      lines(module.statements);
      if (current().kind != Tok::kEof) {
        wrong_indentation();
      }
    }
  } catch (const Abandon&) {
    return module;  // too many errors
  }
  const Token& first = stream_.tokens.front();
  if (first.kind == Tok::kText && first.text.triple) {
    module.doc = take_docstring(module.statements, 0);
  }
  module.globals = std::move(globals_);
  module.inner_variables = std::move(inner_variables_);
  import_exceptions(module);
  import_collections(module);
  drop_other_targets(module.statements);
  return module;
}

void Parser::lines(std::vector<StmtPtr>& out) {
  each_line([&] {
    const auto before = static_cast<std::ptrdiff_t>(out.size());
    auto outer = std::exchange(hoisted_, {});  // of an enclosing record
    inline_statements(out);
    out.insert(out.begin() + before, std::make_move_iterator(hoisted_.begin()),
               std::make_move_iterator(hoisted_.end()));
    hoisted_ = std::move(outer);
  });
}

/// Reads the lines of one block, up to a shallower line or the closing bracket. Resumes at the next line
/// after an error. Inside brackets an error abandons the whole enclosing statement, because the end of the
/// brackets is unknown.
void Parser::each_line(const std::function<void()>& read) {
  constexpr size_t kMaxErrors = 20;
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
      if (context_.bracket != kNone || diagnostics_.size() >= kMaxErrors) {
        throw;
      }
      skip_statement(start);
    }
  }
}

void Parser::wrong_indentation() {
  const bool is_branch = current().kind == Tok::kElse || current().kind == Tok::kElif;
  if (previous().indent > current().indent || context_.indent > current().indent) {
    report(here(), "unindent does not match any outer indentation level",
           indentation_hint(is_branch ? "'else' must be indented like its 'if'" : ""));
  } else {
    report(here(), "unexpected indent", indentation_hint("a block starts after a line that ends with ':'"));
  }
}

/// A hint for the usual cause: tabs on some lines and spaces on others.
std::string Parser::indentation_hint(std::string otherwise) const {
  const std::string& text = file_.text;
  const size_t line = current().start - (current().column - 1);
  const bool tab = text.find('\t', line) < current().start;
  const bool blank = text.find(' ', line) < current().start;
  const auto elsewhere = [&](const char* start) {
    return text.starts_with(start + 1) || text.find(start) != std::string::npos;
  };
  if ((tab && (blank || elsewhere("\n "))) || (blank && elsewhere("\n\t"))) {
    return "a tab counts as 4 columns";
  }
  return otherwise;
}

/// Makes the current token, which starts a line, count as itself instead of as a line end.
void Parser::begin_line() {
  opened_ = pos_;
  refresh();
}

/// `a; b; c`, up to the end of the last statement.
void Parser::inline_statements(std::vector<StmtPtr>& out) {
  do {
    out.push_back(statement());
  } while (continues_imports(*out.back()) || (accept(Tok::kSemicolon) && !at_statement_end()));
}

/// At the comma of `import a, b as c`, which becomes a statement for each module.
bool Parser::continues_imports(const Stmt& statement) {
  if (statement.kind != StmtKind::kUse || !is(Tok::kComma) ||
      stream_.tokens[statement_].kind != Tok::kImport || !as<UseDecl>(statement).names.empty()) {
    return false;
  }
  stream_.tokens[pos_].kind = Tok::kImport;
  refresh();
  return true;
}

bool Parser::opens_indented() const {
  return current().line_start && current().kind != Tok::kEof && current().indent > context_.indent;
}

/// Whether the body consists of indented comments only.
bool Parser::only_comments() const {
  for (auto it = stream_.comments.rbegin(); it != stream_.comments.rend() && it->before_token >= pos_; ++it) {
    const bool own_line = it->span.line != previous().line;
    if (it->before_token == pos_ && own_line && it->span.column > context_.indent + 1) {
      return true;
    }
  }
  return false;
}

/// Enables layout. The current line sets the block's indentation.
void Parser::enter_indented() {
  const size_t bracket = context_.bracket;
  context_ = Context{};
  context_.bracket = bracket;
  context_.indent = current().indent;
}

/// A block of one statement.
Block Parser::block_of(StmtPtr statement) {
  Block block;
  block.span = statement->span;
  block.statements.push_back(std::move(statement));
  return block;
}

StmtPtr Parser::statement_of(SourceSpan span, ExprPtr value) {
  auto statement = make<ExprStmt>(span);
  statement->value = std::move(value);
  return statement;
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
  if (opens_indented()) {
    return indented_block();
  }
  if (only_comments()) {
    return Block{here(), {}};
  }
  if (current().line_start || is(Tok::kEof)) {
    fail_at(from(span_of(previous())), "expected an indented block", "indent the next line, or write 'pass'");
  }
  Level level(*this);
  Block block;
  block.span = here();
  inline_statements(block.statements);
  return block;
}

/// The body of a control statement: a colon block or a brace block.
Block Parser::body(const char* after) {
  if (is(Tok::kLeftBrace)) {
    return brace_block();
  }
  if (is(Tok::kAssign)) {
    fail("unexpected '=' in a condition", "did you mean '=='?");
  }
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
    if (current().line_start) {
      context_.indent = current().indent;
    }
    begin_line();
    inline_statements(block.statements);
    if (current().kind != Tok::kRightBrace) {
      check_statement_end();
    }
  }
  refresh();
  begin_line();
  close_bracket(Tok::kRightBrace, "after the block");
  return block;
}

bool Parser::at_statement_end() const {
  if (kind_ == Tok::kNewline || kind_ == Tok::kEof) {
    return true;
  }
  if (context_.bracket == kNone) {
    return false;
  }
  return kind_ == Tok::kRightParen || kind_ == Tok::kRightBracket || kind_ == Tok::kRightBrace ||
         kind_ == Tok::kComma;
}

void Parser::check_statement_end() {
  if (at_statement_end()) {
    return;
  }
  if (is(Tok::kTildeAssign) || is(Tok::kTilde)) {
    fail("suspension with '~' is not supported");
  }
  if (is(Tok::kTildeArrow)) {
    fail("'~>' is not supported", "use '>>' to compose functions");
  }
  fail("expected end of line, found " + found(), statement_end_hint());
}

std::string Parser::statement_end_hint() const {
  const Tok first_kind = stream_.tokens[statement_].kind;
  if (previous().kind == Tok::kQuestion) {
    return "write 'if c: a else: b' for c ? a : b";
  }
  if (follows_double_slash()) {
    return kCommentHint;
  }
  switch (kind_) {
    case Tok::kComma:
      if (first_kind == Tok::kName && spelling(stream_.tokens[statement_]) == "print") {
        return "write print(…) around all values";
      }
      return first_kind == Tok::kUse ? "write one statement for each module" : "";
    case Tok::kArrow:
      return "write a function as \\x: e";
    case Tok::kRightParen:
    case Tok::kRightBracket:
    case Tok::kRightBrace:
      return "unmatched " + in_quotes(spelling(current()));
    case Tok::kElse:
    case Tok::kElif:
      return "no matching 'if'";
    case Tok::kAssign:
      return "use '==' to compare";
    default:
      break;
  }
  std::string here = keyword_hint();
  const Token& first = stream_.tokens[statement_];
  if (!here.empty() || first.kind != Tok::kName) {
    return here;
  }
  const auto meant = closest_keyword(spelling(first));
  return meant.empty() ? "" : "did you mean " + in_quotes(meant) + "?";
}

}  // namespace spl
