// The base of the parser: tokens, layout, nesting limits and errors.
#include "host/syntax/parser.h"

#include <algorithm>
#include <unordered_set>

namespace spl {
namespace {

constexpr uint32_t kMaxDepth = 200;    // brackets, blocks, operators in operators
constexpr uint32_t kMaxHeight = 1000;  // of a tree, to limit the stack of recursive walks
constexpr size_t kMaxDiagnostics = 20;
constexpr size_t kMaxFileSize = 64u << 20;

/// Operators that continue the previous line when they start a more deeply indented line.
bool leads_continuation(Tok kind) {
  switch (kind) {
    case Tok::kPlus:
    case Tok::kMinus:
    case Tok::kStar:
    case Tok::kStarStar:
    case Tok::kSlash:
    case Tok::kPercent:
    case Tok::kEqual:
    case Tok::kNotEqual:
    case Tok::kLess:
    case Tok::kGreater:
    case Tok::kLessEqual:
    case Tok::kGreaterEqual:
    case Tok::kShiftLeft:
    case Tok::kAmpersand:
    case Tok::kAndAnd:
    case Tok::kPipe:
    case Tok::kPipePipe:
    case Tok::kPipeArrow:
    case Tok::kAnd:
    case Tok::kOr:
    case Tok::kXor:
    case Tok::kCaret:
    case Tok::kIs:
    case Tok::kIn:
    case Tok::kAs:
    case Tok::kQuestionQuestion:
    case Tok::kDotDot:
    case Tok::kDotDotEqual:
    case Tok::kAssign:
      return true;
    default:
      return false;
  }
}

const char* spelled(Tok kind) {
  switch (kind) {
    case Tok::kLeftParen:
      return "'('";
    case Tok::kRightParen:
      return "')'";
    case Tok::kLeftBracket:
      return "'['";
    case Tok::kRightBracket:
      return "']'";
    case Tok::kLeftBrace:
      return "'{'";
    case Tok::kRightBrace:
      return "'}'";
    case Tok::kGreater:
      return "'>'";
    case Tok::kColon:
      return "':'";
    case Tok::kAssign:
      return "'='";
    case Tok::kArrow:
      return "'->'";
    case Tok::kFatArrow:
      return "'=>'";
    case Tok::kPipe:
      return "'|'";
    case Tok::kIn:
      return "'in'";
    case Tok::kFor:
      return "'for'";
    case Tok::kFn:
      return "'fn'";
    case Tok::kImport:
      return "'import'";
    default:
      return "another token";
  }
}

}  // namespace

ParseResult parse(const SourceFile& file, Literals literals) {
  ParseResult result;
  if (file.text.size() > kMaxFileSize) {
    result.diagnostics.push_back({{file.id, 0, 1, 1, 0}, "file is larger than 64 MiB", ""});
    return result;
  }
  result.module = Parser(file, literals, result.diagnostics).module();
  // Only the first diagnostic of a line: the others are usually its consequences. The lexer's precede the
  // parser's.
  std::unordered_set<uint32_t> lines;
  std::erase_if(result.diagnostics, [&](const Diagnostic& d) { return !lines.insert(d.span.line).second; });
  std::stable_sort(result.diagnostics.begin(), result.diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.span.start < b.span.start; });
  if (result.diagnostics.size() > kMaxDiagnostics) {
    result.diagnostics.resize(kMaxDiagnostics);
  }
  return result;
}

Parser::Parser(const SourceFile& file, Literals literals, std::vector<Diagnostic>& diagnostics)
    : file_(file),
      diagnostics_(diagnostics),
      stream_(Lexer(file, {0, static_cast<uint32_t>(file.text.size()), 1, 1}, diagnostics).run()),
      is_spec_(file.path.ends_with("_spec.spl") || file.text.find("std.spec") != std::string::npos ||
               file.text.find("std.sspec") != std::string::npos ||
               file.text.find("std.spipe") != std::string::npos) {
  is_port_ = literals == Literals::kPython || (literals == Literals::kPythonIfTorch && imports_torch());
  mark_fn_names();
  if (is_port_) {
    mark_names();
  }
  note_key_handlers();
}

/// Whether a line of the module begins with `use torch`, `import torch` or `from torch`.
bool Parser::imports_torch() const {
  const auto& tokens = stream_.tokens;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.line_start && token.indent == 0 && spelling(tokens[i + 1]) == "torch" &&
        (token.kind == Tok::kUse || token.kind == Tok::kImport || spelling(token) == "from")) {
      return true;
    }
  }
  return false;
}

Parser::Level::Level(Parser& parser) : parser_(parser), outer_height_(parser.height_) {
  if (parser_.depth_ >= kMaxDepth) {
    parser_.fail("nested too deeply (more than 200 levels)");
  }
  ++parser_.depth_;
  parser_.height_ = 0;
}

Parser::Level::~Level() {
  --parser_.depth_;
  parser_.height_ = std::max(outer_height_, parser_.height_ + 1);
}

/// Counts one link of a chain whose tree grows to the left.
void Parser::chained() {
  if (++height_ > kMaxHeight) {
    fail("expression too long (more than 1000 operators)");
  }
}

// ---- Tokens ---------------------------------------------------------------------------------------------

const Token& Parser::ahead(size_t count) const {
  return stream_.tokens[std::min(pos_ + count, stream_.tokens.size() - 1)];
}

std::string_view Parser::spelling(const Token& token) const {
  return std::string_view(file_.text).substr(token.start, token.length);
}

/// Whether the token can be a name: contextual keywords are names except where the keyword is valid.
bool Parser::can_name(Tok kind) {
  switch (kind) {
    case Tok::kName:
    case Tok::kType:
    case Tok::kStatic:
    case Tok::kPass:
    case Tok::kAlias:
    case Tok::kMod:
    case Tok::kMixin:
    case Tok::kWhere:
      return true;
    default:
      return false;
  }
}

void Parser::refresh() {
  const Token& token = current();
  const bool ends_line = context_.layout && token.line_start && pos_ != opened_ && token.kind != Tok::kEof;
  kind_ = ends_line && !continues(token) ? Tok::kNewline : token.kind;
}

bool Parser::continues(const Token& token) const {
  if (token.kind == Tok::kDot || token.kind == Tok::kQuestionDot) {
    return token.indent >= context_.indent;
  }
  return token.indent > context_.indent && leads_continuation(token.kind);
}

void Parser::advance() {
  if (current().kind != Tok::kEof) {
    ++pos_;
  }
  refresh();
}

bool Parser::accept(Tok kind) {
  if (kind_ != kind) {
    return false;
  }
  advance();
  return true;
}

bool Parser::accept_word(std::string_view word) {
  if (!is_word(word)) {
    return false;
  }
  advance();
  return true;
}

void Parser::expect(Tok kind, const char* context) {
  if (!accept(kind)) {
    fail_expected(std::string(spelled(kind)) + " " + context);
  }
}

Symbol Parser::expect_name(const char* what) {
  if (!is_name()) {
    fail_expected(what, is_keyword(kind_) ? in_quotes(spelling(current())) + " is a keyword" : "");
  }
  const Symbol symbol = current().symbol;
  advance();
  return symbol;
}

/// A name after a dot or of an argument, where keywords are names too.
Symbol Parser::member_name() {
  if (is(Tok::kName) || is_keyword(kind_)) {
    const Symbol symbol = current().symbol;
    advance();
    return symbol;
  }
  fail_expected("a name");
}

/// After an operator: the expression may continue on the next line.
void Parser::join_line() {
  if (kind_ != Tok::kNewline || current().indent < context_.indent) {
    return;
  }
  opened_ = pos_;
  refresh();
}

void Parser::open_bracket() {
  const Context outer = context_;
  context_ = Context{};
  context_.layout = false;
  context_.indent = outer.indent;
  context_.bracket = pos_;
  advance();
}

/// The caller's Scope then restores the layout.
void Parser::close_bracket(Tok kind, const char* context) {
  if (accept(kind)) {
    return;
  }
  const SourceSpan opened = span_of(stream_.tokens[context_.bracket]);
  std::string hint = "perhaps you forgot a comma";
  if (follows_double_slash()) {
    hint = kCommentHint;
  } else if (kind_ == Tok::kEof || opened.line != current().line) {
    hint = in_quotes(spelling(stream_.tokens[context_.bracket])) + " on line " + std::to_string(opened.line) +
           " was never closed";
  } else if (spelling(previous()) == "print") {
    hint = "write print(…) here";
  }
  fail_expected(std::string(spelled(kind)) + " " + context, hint);
}

SourceSpan Parser::span_of(const Token& token) const {
  return {file_.id, token.start, token.line, token.column, token.length};
}

/// From `start` to the end of the token before the current one.
SourceSpan Parser::from(const SourceSpan& start) const {
  SourceSpan span = start;
  const uint32_t end = previous().start + previous().length;
  span.length = end > start.start ? end - start.start : start.length;
  return span;
}

size_t Parser::matching_bracket(size_t open) const {
  int depth = 0;
  for (size_t i = open; i < stream_.tokens.size(); ++i) {
    switch (stream_.tokens[i].kind) {
      case Tok::kLeftParen:
      case Tok::kLeftBracket:
      case Tok::kLeftBrace:
      case Tok::kHashBracket:
        ++depth;
        break;
      case Tok::kRightParen:
      case Tok::kRightBracket:
      case Tok::kRightBrace:
        if (--depth == 0) {
          return i;
        }
        break;
      default:
        break;
    }
  }
  return kNone;
}

// ---- Errors ---------------------------------------------------------------------------------------------

void Parser::report(SourceSpan span, std::string message, std::string hint) {
  diagnostics_.push_back({span, std::move(message), std::move(hint)});
}

void Parser::fail_at(SourceSpan span, std::string message, std::string hint) {
  report(span, std::move(message), std::move(hint));
  throw Abandon{};
}

void Parser::fail(std::string message, std::string hint) {
  fail_at(here(), std::move(message), std::move(hint));
}

void Parser::fail_expected(const std::string& what, std::string hint) {
  SourceSpan where = here();
  if (kind_ == Tok::kNewline || kind_ == Tok::kEof) {  // point after the last token, not at the next line
    const Token& last = previous();
    if (pos_ > 0) {
      where = {file_.id, last.start + last.length, last.line, last.column + last.length, 0};
    }
  }
  fail_at(where, "expected " + what + ", found " + found(), hint.empty() ? keyword_hint() : std::move(hint));
}

/// A hint for operators of other languages, such as ++ and ===, which parse as a missing operand.
std::string Parser::doubled_operator_hint() const {
  const Tok last = previous().kind;
  const bool minus_twice = last == Tok::kMinus && pos_ > 1 && stream_.tokens[pos_ - 2].kind == Tok::kMinus;
  if (kind_ == Tok::kSlashSlash) {
    return kCommentHint;
  }
  if (last == Tok::kPlus && kind_ == Tok::kPlus) {
    return "use += 1 to increment";
  }
  if (minus_twice && !previous().space_before) {
    return "use -= 1 to decrement";
  }
  if ((last == Tok::kEqual || last == Tok::kNotEqual) && kind_ == Tok::kAssign && touches_previous()) {
    return "use == or != to compare";
  }
  return "";
}

/// Whether this line has a `//` before the current token, which its author may have meant as a comment.
bool Parser::follows_double_slash() const {
  const uint32_t line = previous().line;
  for (size_t i = pos_; i-- > 0 && stream_.tokens[i].line == line;) {
    if (stream_.tokens[i].kind == Tok::kSlashSlash) {
      return true;
    }
  }
  return false;
}

/// A hint if the current token is a name similar to a keyword.
std::string Parser::keyword_hint() const {
  if (kind_ != Tok::kName) {
    return "";
  }
  const auto keyword = closest_keyword(spelling(current()));
  return keyword.empty() ? "" : "did you mean " + in_quotes(keyword) + "?";
}

std::string Parser::found() const {
  if (kind_ == Tok::kEof) {
    return current().start < file_.text.size() ? "'}'" : "end of file";
  }
  if (kind_ == Tok::kNewline) {
    return "end of line";
  }
  if (kind_ == Tok::kText) {
    return "a string";
  }
  return in_quotes(spelling(current()));
}

/// Skips the rest of the invalid statement that started at `start`: its line, deeper lines, and branches and
/// brackets that belong to it.
void Parser::skip_statement(size_t start) {
  const auto belongs = [&](Tok kind) {
    return kind == Tok::kElse || kind == Tok::kElif || (kind == Tok::kCase && !context_.arms) ||
           kind == Tok::kRightParen || kind == Tok::kRightBracket || kind == Tok::kRightBrace;
  };
  const auto is_next = [&](const Token& token) {
    if (!token.line_start || pos_ == start) {
      return false;
    }
    return token.indent < context_.indent || (token.indent == context_.indent && !belongs(token.kind));
  };
  while (current().kind != Tok::kEof && !is_next(current())) {
    advance();
  }
}

}  // namespace spl
