// Converts source text to tokens.
#include "host/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "host/syntax/parse.h"

namespace spl {
namespace {

constexpr std::array<std::string_view, 55> kKeywords = {
    "fn",    "me",       "val",   "var",    "let",   "const",  "static", "struct", "class", "enum",
    "trait", "impl",     "mixin", "extern", "use",   "import", "export", "mod",    "pub",   "type",
    "alias", "if",       "elif",  "else",   "for",   "while",  "loop",   "match",  "case",  "return",
    "break", "continue", "pass",  "in",     "is",    "not",    "and",    "or",     "xor",   "as",
    "true",  "false",    "nil",   "self",   "super", "async",  "await",  "yield",  "spawn", "with",
    "defer", "unsafe",   "move",  "mut",    "where"};
static_assert(static_cast<size_t>(Tok::kWhere) - static_cast<size_t>(Tok::kFn) + 1 == kKeywords.size());

// Deeper nesting of strings, or a longer interpolation, is read as literal braces.
constexpr int kMaxTextDepth = 16;
constexpr uint32_t kMaxInterpolation = 1024;

/// Keyword kinds by symbol. Symbols past the end of the table are plain names.
const std::vector<Tok>& keyword_kinds() {
  static const std::vector<Tok> kinds = [] {
    std::vector<Tok> table;
    const auto add = [&](std::string_view spelling, Tok kind) {
      const Symbol symbol = intern(spelling);
      if (symbol >= table.size()) {
        table.resize(symbol + 1, Tok::kName);
      }
      table[symbol] = kind;
    };
    for (size_t i = 0; i < kKeywords.size(); ++i) {
      add(kKeywords[i], static_cast<Tok>(static_cast<size_t>(Tok::kFn) + i));
    }
    add("True", Tok::kTrue);  // as Python writes them
    add("False", Tok::kFalse);
    return table;
  }();
  return kinds;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Letters outside ASCII are allowed. The lead bytes 0xE2 (curly quotes, arrows…) and 0xC2 (signs, the
// no-break space) are not.
bool is_name_start(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (byte >= 0x80 && byte != 0xE2 && byte != 0xC2);
}
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

struct Punctuation {
  std::string_view spelling;
  Tok kind;
};
// Longest first among spellings with the same prefix. `>>` is two tokens, because it can close two generics.
constexpr Punctuation kPunctuation[] = {
    {"...", Tok::kEllipsis},
    {"..=", Tok::kDotDotEqual},
    {"..", Tok::kDotDot},
    {".?", Tok::kDotQuestion},
    {".", Tok::kDot},
    {"?.", Tok::kQuestionDot},
    {"??", Tok::kQuestionQuestion},
    {"?", Tok::kQuestion},
    {"->", Tok::kArrow},
    {"-=", Tok::kMinusAssign},
    {"-", Tok::kMinus},
    {"=>", Tok::kFatArrow},
    {"==", Tok::kEqual},
    {"=", Tok::kAssign},
    {"+=", Tok::kPlusAssign},
    {"+", Tok::kPlus},
    {"**=", Tok::kStarStarAssign},
    {"**", Tok::kStarStar},
    {"*=", Tok::kStarAssign},
    {"*", Tok::kStar},
    {"//=", Tok::kSlashSlashAssign},
    {"//", Tok::kSlashSlash},
    {"/=", Tok::kSlashAssign},
    {"/", Tok::kSlash},
    {"%=", Tok::kPercentAssign},
    {"%", Tok::kPercent},
    {"!=", Tok::kNotEqual},
    {"!", Tok::kBang},
    {"<<=", Tok::kShiftLeftAssign},
    {"<<", Tok::kShiftLeft},
    {"<=", Tok::kLessEqual},
    {"<", Tok::kLess},
    {">>=", Tok::kShiftRightAssign},
    {">=", Tok::kGreaterEqual},
    {">", Tok::kGreater},
    {"&=", Tok::kAmpersandAssign},
    {"&&", Tok::kAndAnd},
    {"&", Tok::kAmpersand},
    {"|=", Tok::kPipeAssign},
    {"||", Tok::kPipePipe},
    {"|>", Tok::kPipeArrow},
    {"|", Tok::kPipe},
    {"~=", Tok::kTildeAssign},
    {"~>", Tok::kTildeArrow},
    {"~", Tok::kTilde},
    {"::", Tok::kColonColon},
    {":", Tok::kColon},
    {"(", Tok::kLeftParen},
    {")", Tok::kRightParen},
    {"[", Tok::kLeftBracket},
    {"]", Tok::kRightBracket},
    {"{", Tok::kLeftBrace},
    {"}", Tok::kRightBrace},
    {",", Tok::kComma},
    {";", Tok::kSemicolon},
    {"\\", Tok::kBackslash},
    {"@=", Tok::kAtAssign},
    {"@", Tok::kAt},
    {"^=", Tok::kCaretAssign},
    {"^", Tok::kCaret},
    {"#[", Tok::kHashBracket},
};

/// The index of the first spelling that starts with a character; all of these are adjacent in the table.
constexpr auto kFirstPunctuation = [] {
  std::array<uint8_t, 256> firsts{};
  firsts.fill(std::size(kPunctuation));
  for (size_t i = std::size(kPunctuation); i-- > 0;) {
    firsts[static_cast<unsigned char>(kPunctuation[i].spelling[0])] = static_cast<uint8_t>(i);
  }
  return firsts;
}();

/// Whether one insertion, deletion, substitution or swap of neighbors turns `a` into `b`.
bool one_edit_apart(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) {
    std::swap(a, b);
  }
  if (b.size() - a.size() > 1 || a == b) {
    return false;
  }
  size_t i = 0;
  while (i < a.size() && a[i] == b[i]) {
    ++i;
  }
  if (a.size() != b.size()) {
    return a.substr(i) == b.substr(i + 1);
  }
  if (a.substr(i + 1) == b.substr(i + 1)) {
    return true;
  }
  return i + 1 < a.size() && a[i] == b[i + 1] && a[i + 1] == b[i] && a.substr(i + 2) == b.substr(i + 2);
}

}  // namespace

std::string_view closest_keyword(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kForeign[] = {
      {"def", "fn"},       {"func", "fn"},  {"function", "fn"}, {"elseif", "elif"}, {"elsif", "elif"},
      {"switch", "match"}, {"None", "nil"}, {"null", "nil"},    {"this", "self"},   {"interface", "trait"}};
  for (const auto& [foreign, ours] : kForeign) {
    if (name == foreign) {
      return ours;
    }
  }
  if (name.size() < 3) {
    return "";
  }
  for (const auto keyword : kKeywords) {
    if (keyword.size() >= 3 && one_edit_apart(name, keyword)) {
      return keyword;
    }
  }
  return "";
}

Lexer::Lexer(const SourceFile& file, LexRange range, std::vector<Diagnostic>& diagnostics)
    : file_(file),
      text_(file.text),
      range_(range),
      diagnostics_(diagnostics),
      pos_(range.begin),
      line_(range.line),
      line_begin_(range.begin - (range.column - 1)) {}

namespace {

/// Whether a token after `val` or `var` shows that the word is a name there: an operator, a closing bracket
/// or a line end. A declaration has a name or a pattern after its keyword.
bool ends_operand(const Token& next) {
  switch (next.kind) {
    case Tok::kEof:
    case Tok::kRightParen:
    case Tok::kRightBracket:
    case Tok::kRightBrace:
    case Tok::kIf:
    case Tok::kElse:
    case Tok::kFor:
    case Tok::kIn:
    case Tok::kIs:
    case Tok::kNot:
    case Tok::kAnd:
    case Tok::kOr:
      return true;
    case Tok::kBackslash:
    case Tok::kHash:
    case Tok::kHashBracket:
    case Tok::kAt:
      return next.line_start;
    default:
      return next.line_start || (next.kind >= Tok::kComma && next.kind <= Tok::kCaret);
  }
}

/// Whether `match` is a name: where it is declared, assigned or ends an operand.
bool is_match_name(const Token* before, const Token& next) {
  const bool declared = before != nullptr && (before->kind == Tok::kVal || before->kind == Tok::kVar ||
                                              before->kind == Tok::kLet || before->kind == Tok::kMut);
  const bool member = before != nullptr && before->kind == Tok::kDot;
  return declared ||
         (!member && next.kind != Tok::kMinus && next.kind != Tok::kLeftParen &&
          next.kind != Tok::kLeftBracket && next.kind != Tok::kLeftBrace && next.kind != Tok::kNot &&
          next.kind != Tok::kTilde && next.kind != Tok::kBang && next.kind != Tok::kStar &&
          next.kind != Tok::kAmpersand && next.kind != Tok::kPipe && next.kind != Tok::kPipePipe &&
          next.kind != Tok::kIf && next.kind != Tok::kEllipsis && ends_operand(next));
}

/// Whether the token is an operator between two operands that cannot start a pattern.
bool is_infix(Tok kind) {
  switch (kind) {
    case Tok::kPlus:
    case Tok::kSlash:
    case Tok::kSlashSlash:
    case Tok::kPercent:
    case Tok::kStarStar:
    case Tok::kEqual:
    case Tok::kNotEqual:
    case Tok::kLess:
    case Tok::kLessEqual:
    case Tok::kGreater:
    case Tok::kGreaterEqual:
    case Tok::kQuestionQuestion:
      return true;
    default:
      return false;
  }
}

/// At the start of a line they begin a declaration, unless an operator, an assignment, a member or nothing
/// follows.
bool is_variable(const Token& next) {
  return next.line_start || next.kind == Tok::kEof || next.kind == Tok::kDot || next.kind == Tok::kComma ||
         is_infix(next.kind) || next.kind == Tok::kAssign ||
         (next.kind >= Tok::kPlusAssign && next.kind <= Tok::kShiftRightAssign);
}

void rename_words(std::vector<Token>& tokens, bool in_braces) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    Token& word = tokens[i];
    if (word.kind == Tok::kMatch && is_match_name(i > 0 ? &tokens[i - 1] : nullptr, tokens[i + 1])) {
      word.kind = Tok::kName;
    }
    if (word.kind != Tok::kVal && word.kind != Tok::kVar) {
      continue;
    }
    const bool starts_line = word.line_start && !in_braces;
    if (starts_line ? is_variable(tokens[i + 1]) : ends_operand(tokens[i + 1])) {
      word.kind = Tok::kName;
    }
  }
}

}  // namespace

TokenStream Lexer::run() {
  out_.tokens.reserve((range_.end - range_.begin) / 4 + 2);
  if (range_.begin == 0 && starts_with(0, "\xEF\xBB\xBF")) {
    pos_ = line_begin_ = 3;  // a byte order mark
  }
  indentation();
  for (skip_blank(); pos_ < range_.end; skip_blank()) {
    next_token();
  }
  line_start_ = true;
  indent_ = 0;
  emit(Tok::kEof, 0);
  rename_words(out_.tokens, range_.begin > 0);  // a range is the expression in the braces of a string
  return std::move(out_);
}

bool Lexer::starts_with(uint32_t offset, std::string_view what) const {
  return offset <= range_.end &&
         text_.substr(offset, std::min<size_t>(what.size(), range_.end - offset)) == what;
}

/// Skips whitespace, line ends and comments up to the next token.
void Lexer::skip_blank() {
  while (pos_ < range_.end) {
    const char c = text_[pos_];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++pos_;
    } else if (c == '\n') {
      newline();
    } else if (c == '\\' && (at(pos_ + 1) == '\n' || starts_with(pos_ + 1, "\r\n"))) {
      joined_ = true;
      ++pos_;
    } else if (c == '#' && at(pos_ + 1) != '[') {
      if (std::isupper(static_cast<unsigned char>(at(pos_ + 1))) && after_typed_name()) {
        return;  // `delta: #Duration` is a unit type
      }
      line_comment(at(pos_ + 1) == '#');
    } else if (c == '/' && at(pos_ + 1) == '*') {
      block_comment();
    } else if (line_start_ && starts_with(pos_, "///")) {
      line_comment(true);
    } else {
      return;
    }
  }
}

// Whether the position is after the colon of a parameter or of a name declared by val, var or let.
bool Lexer::after_typed_name() const {
  const auto& tokens = out_.tokens;
  const size_t count = tokens.size();
  if (count < 3 || tokens[count - 1].kind != Tok::kColon) {
    return false;
  }
  const Tok word = tokens[count - 3].kind;
  return (!brackets_.empty() && brackets_.back() == '(') || word == Tok::kVal || word == Tok::kVar ||
         word == Tok::kLet;
}

void Lexer::line_comment(bool is_doc) {
  const uint32_t start = pos_;
  while (pos_ < range_.end && text_[pos_] != '\n') {
    ++pos_;
  }
  out_.comments.push_back({span(start, pos_ - start), is_doc, static_cast<uint32_t>(out_.tokens.size())});
}

void Lexer::block_comment() {
  SourceSpan where = span(pos_, 2);
  const uint32_t start = pos_;
  int depth = 0;
  do {
    if (starts_with(pos_, "/*")) {
      ++depth;
      pos_ += 2;
    } else if (starts_with(pos_, "*/")) {
      --depth;
      pos_ += 2;
    } else if (at(pos_) == '\n') {
      newline();
    } else {
      ++pos_;
    }
  } while (depth > 0 && pos_ < range_.end);
  if (depth > 0) {
    report(where, "unterminated comment", "end it with '*/'; comments nest");
  }
  where.length = pos_ - start;
  out_.comments.push_back({where, starts_with(start, "/**"), static_cast<uint32_t>(out_.tokens.size())});
}

void Lexer::newline() {
  ++pos_;
  ++line_;
  line_begin_ = pos_;
  if (joined_) {
    joined_ = false;
    return;
  }
  line_start_ = true;
  indentation();
}

void Lexer::indentation() {
  indent_ = 0;
  while (at(pos_) == ' ' || at(pos_) == '\t') {
    indent_ += text_[pos_++] == '\t' ? 4 : 1;
  }
}

/// Whether a point starts a number: `.5` where no member can be.
bool Lexer::starts_with_point() const {
  if (text_[pos_] != '.' || !is_digit(at(pos_ + 1)) || out_.tokens.empty()) {
    return false;
  }
  switch (out_.tokens.back().kind) {
    case Tok::kLeftParen:
    case Tok::kLeftBracket:
    case Tok::kLeftBrace:
    case Tok::kComma:
    case Tok::kColon:
    case Tok::kReturn:
    case Tok::kIn:
    case Tok::kElse:
      return true;
    default:
      return out_.tokens.back().kind >= Tok::kAssign && out_.tokens.back().kind <= Tok::kCaret;
  }
}

void Lexer::next_token() {
  const char c = text_[pos_];
  if (is_digit(c) || starts_with_point()) {
    return number();
  }
  if (const auto shape = text_shape_at(pos_)) {
    return text(*shape);
  }
  if (is_name_start(c)) {
    return name_or_keyword();
  }
  punctuation();
}

void Lexer::name_or_keyword() {
  uint32_t end = pos_;
  while (is_name_part(at(end))) {
    ++end;
  }
  const Symbol symbol = intern(text_.substr(pos_, end - pos_));
  const auto& keywords = keyword_kinds();
  emit(symbol < keywords.size() ? keywords[symbol] : Tok::kName, end - pos_);
  out_.tokens.back().symbol = symbol;
}

void Lexer::number() {
  const uint32_t start = pos_;
  uint32_t end = pos_;
  const auto run_of = [&](auto accepts) {
    while (accepts(at(end)) || at(end) == '_') {
      ++end;
    }
  };
  Tok kind = Tok::kInt;
  const char radix = at(start) == '0' ? at(start + 1) : '\0';
  if (radix == 'x' || radix == 'b' || radix == 'o') {
    end += 2;
    run_of([](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
  } else {
    run_of(is_digit);
    // After a dot (pair.0.1) numbers are tuple fields, never fractions.
    const bool member = !out_.tokens.empty() && out_.tokens.back().kind == Tok::kDot;
    const char after = at(end) == '.' ? at(end + 1) : '\0';
    const char sign = at(end + 2);
    const bool has_exponent = (after == 'e' || after == 'E') &&
                              (is_digit(sign) || ((sign == '+' || sign == '-') && is_digit(at(end + 3))));
    // `1.`, but neither `1..4` nor `1.abs()` nor `0.?`
    const bool has_point =
        at(end) == '.' && after != '.' && after != '?' && (has_exponent || !is_name_start(after));
    if (!member && has_point) {
      kind = Tok::kFloat;
      ++end;
      run_of(is_digit);
    }
    const uint32_t exponent = at(end + 1) == '+' || at(end + 1) == '-' ? end + 2 : end + 1;
    if ((at(end) == 'e' || at(end) == 'E') && is_digit(at(exponent))) {
      kind = Tok::kFloat;
      end = exponent;
      run_of(is_digit);
    }
  }
  while (is_name_part(at(end))) {
    ++end;  // a suffix, checked by the parser
  }
  emit(kind, end - start);
}

std::optional<TextShape> Lexer::text_shape_at(uint32_t offset) const {
  TextShape shape;
  const char c = at(offset);
  // f"…", r"…" and Python's b"…" and u"…", with either quote; and two of the first three letters.
  const auto is_quote = [](char q) { return q == '"' || q == '\''; };
  const auto is_prefix = [](char p) { return p == 'r' || p == 'f' || p == 'b'; };
  const char next = at(offset + 1);
  const bool two =
      is_prefix(c) && is_prefix(next) && c != next && (c == 'r' || next == 'r') && is_quote(at(offset + 2));
  if (two || ((is_prefix(c) || c == 'u') && is_quote(next))) {
    shape.prefix = two ? 2 : 1;
    const auto has = [&](char letter) { return c == letter || (two && next == letter); };
    shape.raw = has('r') && at(offset + shape.prefix) == '"';
    shape.bytes = has('b');
    shape.interpolates = has('f');
    shape.escapes = !has('r');
    shape.triple = opens_triple(offset + shape.prefix);
    return shape;
  }
  if (!is_quote(c)) {
    return std::nullopt;
  }
  shape.triple = opens_triple(offset);
  shape.escapes = shape.interpolates = c == '"' && !shape.triple;
  return shape;
}

/// Whether three equal quotes follow.
bool Lexer::opens_triple(uint32_t offset) const {
  return starts_with(offset, "\"\"\"") || starts_with(offset, "'''");
}

/// The offset after the closing quote. Without one: the end of the line, or of the file for a triple quote.
uint32_t Lexer::text_end(uint32_t start, TextShape shape, int depth, bool& terminated) {
  const char quote = at(start + shape.prefix);
  uint32_t i = start + shape.opening();
  while (i < range_.end) {
    const char c = text_[i];
    if (c == quote && (!shape.triple || opens_triple(i))) {
      terminated = true;
      return i + shape.closing();
    }
    if (c == '\n' && !shape.triple && !shape.raw) {
      break;
    }
    if (c == '\\' && at(i + 1) == '\n' && !shape.triple && !shape.raw) {  // the next line continues it
      i += 2;
      continue;
    }
    if (c == '\\' && (shape.escapes || (quote == '\'' && at(i + 1) == '\'')) && at(i + 1) != '\n') {
      i += 2;
    } else if (c == '{' && shape.interpolates) {
      const auto close = interpolation_end(i, quote_in_braces(start, shape), depth);
      i = close ? *close + 1 : i + (at(i + 1) == '{' ? 2 : 1);
    } else {
      ++i;
    }
  }
  terminated = false;
  return std::min(i, range_.end);
}

/// The quote with which an expression in the braces of f"…" or f'…' may begin; 0 for strings without `f`,
/// in which a brace before a quote is literal.
char Lexer::quote_in_braces(uint32_t start, TextShape shape) const {
  return shape.prefix == 0 ? '\0' : at(start + shape.prefix) == '"' ? '\'' : '"';
}

std::optional<uint32_t> Lexer::interpolation_end(uint32_t open, char quote, int depth) {
  constexpr std::string_view kLiteralBefore = "{}:\"'\\\n";
  if (depth > kMaxTextDepth || open + 1 >= range_.end) {
    return std::nullopt;
  }
  if (at(open + 1) != quote && kLiteralBefore.find(at(open + 1)) != std::string_view::npos) {
    return std::nullopt;
  }
  // Cached, because strings nested in unclosed braces would be scanned exponentially often.
  if (const auto known = interpolation_ends_.find(open); known != interpolation_ends_.end()) {
    return known->second;
  }

  std::optional<uint32_t> result;
  const uint32_t limit = std::min(range_.end, open + kMaxInterpolation);
  int brackets = 0;
  int round = 0;  // those of them that are no braces
  for (uint32_t i = open + 1; i < limit && text_[i] != '\n';) {
    const char c = text_[i];
    if (c == '"' || c == '\'') {
      const char before = text_[i - 1];
      const bool prefixed = (before == 'r' || before == 'f') && !is_name_part(text_[i - 2]);
      const uint32_t begin = prefixed && (c == '"' || before == 'f') ? i - 1 : i;
      bool terminated = false;
      i = text_end(begin, *text_shape_at(begin), depth + 1, terminated);
      if (!terminated) {
        break;
      }
      continue;
    }
    if (c == ';' && round == 0) {
      break;  // not an expression, but text such as a rule of CSS
    }
    round += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == '(' || c == '[' || c == '{') {
      ++brackets;
    }
    if (c == ')' || c == ']' || c == '}') {
      if (brackets == 0) {
        if (c == '}') {
          result = i;
        }
        break;
      }
      --brackets;
    }
    ++i;
  }
  interpolation_ends_.emplace(open, result);
  return result;
}

void Lexer::text(TextShape shape) {
  bool terminated = false;
  const uint32_t end = text_end(pos_, shape, 0, terminated);
  if (!terminated) {
    const SourceSpan opening = span(pos_, shape.opening());
    if (shape.triple) {
      report(opening, "unterminated triple-quoted string literal", "end it with the same three quotes");
    } else {
      report(opening, "unterminated string literal", "use triple quotes for a string that spans lines");
    }
  }
  const uint32_t start = pos_;
  emit(Tok::kText, end - start);
  out_.tokens.back().text = shape;
  out_.tokens.back().terminated = terminated;
  for (uint32_t i = start; (shape.triple || shape.raw) && i < end; ++i) {
    if (text_[i] != '\n') {
      continue;
    }
    ++line_;
    line_begin_ = i + 1;
  }
}

void Lexer::punctuation() {
  for (size_t i = kFirstPunctuation[static_cast<unsigned char>(text_[pos_])]; i < std::size(kPunctuation);
       ++i) {
    const auto& [spelling, kind] = kPunctuation[i];
    if (spelling[0] != text_[pos_]) {
      break;
    }
    if (!starts_with(pos_, spelling)) {
      continue;
    }
    const char c = spelling.back();
    if (c == '(' || c == '[' || c == '{') {
      brackets_.push_back(c);
    }
    if ((c == ')' || c == ']' || c == '}') && !brackets_.empty()) {
      brackets_.pop_back();
    }
    return emit(kind, static_cast<uint32_t>(spelling.size()));
  }
  if (text_[pos_] == '#') {
    return emit(Tok::kHash, 1);
  }
  unexpected_character();
}

void Lexer::unexpected_character() {
  uint32_t length = 1;
  while ((static_cast<unsigned char>(at(pos_ + length)) & 0xC0) == 0x80) {
    ++length;  // the whole UTF-8 sequence
  }
  const std::string_view character = text_.substr(pos_, length);
  const bool printable = length > 1 || std::isprint(static_cast<unsigned char>(character[0]));
  const bool curly =
      character == "\u201C" || character == "\u201D" || character == "\u2018" || character == "\u2019";
  report(span(pos_, length),
         printable ? "unexpected character '" + std::string(character) + "'"
                   : "unexpected byte " + std::to_string(static_cast<unsigned char>(character[0])),
         curly                   ? "use plain quotes: \""
         : character == "\u00A0" ? "replace the no-break space with a space"
                                 : "");
  pos_ += length;
}

void Lexer::emit(Tok kind, uint32_t length) {
  Token& token = out_.tokens.emplace_back();
  token.kind = kind;
  token.line_start = line_start_;
  token.space_before = pos_ > range_.begin && std::isspace(static_cast<unsigned char>(text_[pos_ - 1]));
  token.indent = indent_;
  token.start = pos_;
  token.length = length;
  token.line = line_;
  token.column = pos_ - line_begin_ + 1;
  line_start_ = false;
  pos_ += length;
}

SourceSpan Lexer::span(uint32_t start, uint32_t length) const {
  return {file_.id, start, line_, start - line_begin_ + 1, length};
}

void Lexer::report(SourceSpan where, std::string message, std::string hint) {
  diagnostics_.push_back({where, std::move(message), std::move(hint)});
}

}  // namespace spl
