// String literals: escapes, interpolation, format specifications.
#include <algorithm>
#include <cctype>
#include <iterator>

#include "host/syntax/parser.h"
#include "host/syntax/utf8.h"

namespace spl {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return 99;
}

/// Decodes escape sequences. `literal` are the characters that a backslash before them stands for; before
/// other ones it stays, as in Python. nullptr: all characters.
class Escapes {
 public:
  Escapes(std::string_view text, std::string& out, bool bytes = false, const char* literal = nullptr)
      : text_(text), out_(out), bytes_(bytes), continues_(literal != nullptr), literal_(literal) {}

  /// A backslash at the end of a line continues the line, which is always so before escapes of Python.
  void continue_lines(bool continues) { continues_ = continues_ || continues; }

  /// Decodes the escape whose backslash precedes `i`. Returns the index after it.
  size_t read(size_t i) {
    const char c = text_[i];
    switch (c) {
      case 'n':
        out_ += '\n';
        return i + 1;
      case 't':
        out_ += '\t';
        return i + 1;
      case 'r':
        out_ += '\r';
        return i + 1;
      case 'a':
        out_ += '\a';
        return i + 1;
      case 'b':
        out_ += '\b';
        return i + 1;
      case 'f':
        out_ += '\f';
        return i + 1;
      case 'v':
        out_ += '\v';
        return i + 1;
      case 'x':
        return number(i + 1, 16, 2, i);
      case 'u':
        if (i + 1 < text_.size() && text_[i + 1] == '{') {
          return braced(i);
        }
        return number(i + 1, 16, 4, i);
      case '\n':
        if (continues_) {
          return i + 1;
        }
        break;
      default:
        break;
    }
    if (c >= '0' && c <= '7') {
      return number(i, 8, 3, i);
    }
    if (literal_ != nullptr && std::string_view(literal_).find(c) == std::string_view::npos) {
      out_ += '\\';
    }
    out_ += c;  // an unknown escape is the character itself
    return i + 1;
  }

 private:
  size_t number(size_t i, int base, size_t max_digits, size_t escape) {
    const size_t start = i;
    uint32_t code = 0;
    while (i < text_.size() && i < start + max_digits && digit_value(text_[i]) < base) {
      code = code * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit_value(text_[i++]));
    }
    if (i == start) {
      out_ += text_[escape];
    } else if (bytes_) {
      out_ += static_cast<char>(code);
    } else {
      append_utf8(out_, code);
    }
    return i;
  }

  size_t braced(size_t escape) {
    const size_t end = number(escape + 2, 16, 6, escape);
    return end < text_.size() && text_[end] == '}' ? end + 1 : end;
  }

  std::string_view text_;
  std::string& out_;
  bool bytes_, continues_;
  const char* literal_;
};

std::string unescaped(std::string_view raw, bool bytes, bool continues, const char* literal = nullptr) {
  std::string out;
  Escapes escapes(raw, out, bytes, literal);
  escapes.continue_lines(continues);
  for (size_t i = 0; i < raw.size();) {
    if (raw[i] == '\\' && i + 1 < raw.size()) {
      i = escapes.read(i + 1);
    } else {
      out += raw[i++];
    }
  }
  return out;
}

/// [[fill]align][sign][#][0][width][,|_][.precision][type], not empty, not starting with a space. A name or
/// number in braces stands for a number.
bool is_format(std::string_view text) {
  std::string spec;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t close = text[i] == '{' ? text.find('}', i) : std::string_view::npos;
    if (close != std::string_view::npos && close > i + 1) {
      spec += '1';
      i = close;
    } else {
      spec += text[i];
    }
  }
  const auto one_of = [&](size_t at, std::string_view set) {
    return at < spec.size() && set.find(spec[at]) != std::string_view::npos;
  };
  constexpr std::string_view kAlign = "<>^=";
  constexpr std::string_view kNumberTypes = "deEfFgG%";
  const bool has_space =
      !spec.empty() && spec[0] == ' ' && !one_of(1, kAlign);  // the sign, as in `{loss: .4f}`
  if (spec.empty() || (has_space && !one_of(spec.size() - 1, kNumberTypes))) {
    return false;
  }
  size_t i = one_of(1, kAlign) ? 2 : one_of(0, kAlign) ? 1 : 0;
  if (one_of(i, "+- ")) {
    ++i;
  }
  if (one_of(i, "#")) {
    ++i;
  }
  while (one_of(i, "0123456789")) {
    ++i;
  }
  if (one_of(i, ",_")) {
    ++i;
  }
  if (one_of(i, ".")) {
    if (!one_of(++i, "0123456789")) {
      return false;
    }
    while (one_of(i, "0123456789")) {
      ++i;
    }
  }
  if (one_of(i, "bcdeEfFgGnosxX%")) {
    ++i;
  }
  return i == spec.size();
}

/// A declaration of CSS, as in `h1 {color: red}`: a name, a colon, a space and words. No expression has this
/// form.
bool is_declaration(std::string_view inside) {
  const auto is_in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; };
  const size_t first = inside.find_first_not_of(' ');
  size_t end = first;
  while (end < inside.size() && is_in_name(inside[end])) {
    ++end;
  }
  if (first == std::string_view::npos || std::isalpha(static_cast<unsigned char>(inside[first])) == 0 ||
      inside.substr(end, 2) != ": ") {
    return false;
  }
  const std::string_view value = inside.substr(end + 2);
  return value.find_first_not_of(' ') != std::string_view::npos &&
         std::all_of(value.begin(), value.end(), [&](char c) {
           return is_in_name(c) || std::string_view(" #.,%!").find(c) != value.npos;
         });
}

}  // namespace

namespace {

std::vector<InterpolationPart> interpolation_parts(ExprPtr text) {
  std::vector<InterpolationPart> parts;
  if (text->kind == ExprKind::kText) {
    parts.emplace_back().text = std::move(as<TextExpr>(*text).value);
  } else {
    parts = std::move(as<InterpolationExpr>(*text).parts);
  }
  return parts;
}

}  // namespace

/// `"a" "b {c}"`: adjacent string literals are one string, as in Python.
ExprPtr Parser::text() {
  const bool has_fields = starts_format();  // the braces belong to format()
  ExprPtr whole = text_literal(has_fields);
  while (is(Tok::kText) && !(current().line_start && context_.layout)) {
    const SourceSpan span = whole->span;
    std::vector<InterpolationPart> parts = interpolation_parts(std::move(whole));
    std::vector<InterpolationPart> more = interpolation_parts(text_literal(has_fields));
    if (!parts.back().value) {
      more.front().text.insert(0, parts.back().text);
      parts.pop_back();
    }
    std::move(more.begin(), more.end(), std::back_inserter(parts));
    if (parts.size() == 1 && !parts.front().value) {
      auto plain = make<TextExpr>(span);
      plain->value = std::move(parts.front().text);
      whole = std::move(plain);
    } else {
      auto interpolation = make<InterpolationExpr>(span);
      interpolation->parts = std::move(parts);
      whole = std::move(interpolation);
    }
  }
  return whole;
}

ExprPtr Parser::text_literal(bool has_fields) {
  const Token token = current();
  const uint32_t tail = token.terminated ? token.text.closing() : 0;
  const std::string_view raw = spelling(token).substr(token.text.opening());
  const std::string_view content = raw.substr(0, raw.size() - std::min<size_t>(tail, raw.size()));
  const bool is_plain = has_fields && !(token.text.prefix > 0 && token.text.interpolates);  // not f"…"
  if (token.text.interpolates && content.find_first_of("{}") != std::string_view::npos && !is_description() &&
      !is_plain) {
    return interpolation(token);
  }

  auto node = make<TextExpr>(here());
  if (token.text.escapes) {
    node->value = unescaped(content, token.text.bytes, is_port_ || !token.text.triple);
  } else if (is_port_ && token.text.prefix == 0 && !is_code_of_python()) {
    node->value = unescaped(content, false, true, "\\'\"");
  } else {
    node->value = content;
    if (!token.text.triple && spelling(token)[0] == '\'') {
      if (content.find('\n') != std::string_view::npos) {
        fail("unterminated string literal", "use triple quotes for a string that spans lines");
      }
      for (size_t i = 0; (i = node->value.find("\\'", i)) != std::string::npos; ++i) {
        node->value.erase(i, 1);
      }
    }
  }
  advance();
  return node;
}

/// Whether the current string is the argument of exec() or eval(), as in `py.exec("""…""")`.
bool Parser::is_code_of_python() const {
  if (pos_ < 2 || stream_.tokens[pos_ - 1].kind != Tok::kLeftParen) {
    return false;
  }
  const std::string_view word = spelling(stream_.tokens[pos_ - 2]);
  return word == "exec" || word == "eval";
}

/// Whether the current string names a group or an example of a spec, in which braces are literal.
bool Parser::is_description() const {
  static constexpr std::string_view kWords[] = {"describe",        "context",         "it",
                                                "slow_it",         "limited_it",      "pending",
                                                "pending_it",      "shared_examples", "it_behaves_like",
                                                "include_examples"};
  if (!is_spec_ || pos_ == 0) {
    return false;
  }
  const auto& tokens = stream_.tokens;
  size_t name = pos_ - 1;
  if (tokens[name].kind == Tok::kLeftParen && name > 0) {
    --name;
  }
  if (name > 0 && tokens[name - 1].kind == Tok::kDot) {
    return false;
  }
  const std::string_view word = spelling(tokens[name]);
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

/// Splits `a {x:.2f} b` at its braces. Without an expression the result is a plain string.
ExprPtr Parser::interpolation(const Token& token) {
  auto node = make<InterpolationExpr>(span_of(token));
  std::string text;
  const std::string_view file = file_.text;
  const uint32_t end = token.start + token.length - (token.terminated ? token.text.closing() : 0);
  std::vector<Diagnostic> ignored;
  Lexer braces(file_, {0, end, 1, 1}, ignored);
  Escapes escapes(file.substr(0, end), text);
  escapes.continue_lines(is_port_ || !token.text.triple);
  LexRange position{token.start, end, token.line, token.column};
  for (uint32_t i = token.start + token.text.opening(); i < end;) {
    const char c = file[i];
    const bool doubled = i + 1 < end && file[i + 1] == c;
    if (c == '\\' && i + 1 < end && token.text.escapes) {
      i = static_cast<uint32_t>(escapes.read(i + 1));
    } else if (c == '{' && !doubled) {
      const auto close = braces.interpolation_end(i, braces.quote_in_braces(token.start, token.text));
      if (!close) {
        text += file[i++];
        continue;
      }
      const uint32_t colon = format_colon(i + 1, *close);
      if (colon == *close && is_declaration(file.substr(i + 1, *close - i - 1))) {
        text += file[i++];
        continue;
      }
      const uint32_t end_of_value = value_end(i + 1, colon);
      const std::string_view mark = file.substr(end_of_value, colon - end_of_value);  // =, !r, !s or !a
      if (mark.starts_with('=')) {
        text += file.substr(i + 1, colon - i - 1);
      }
      InterpolationPart part;
      part.text = std::exchange(text, {});
      move_to(position, i + 1);
      part.value = interpolated({i + 1, end_of_value, position.line, position.column});
      if (mark == "!r" || (mark.starts_with('=') && colon == *close)) {
        part.value = call_of("__repr__", std::move(part.value));
      } else if (mark == "!a") {
        part.value = call_of("ascii", std::move(part.value));
      }
      if (colon < *close) {
        part.format = file.substr(colon + 1, *close - colon - 1);
      }
      if (part.format.find('{') != std::string::npos) {  // `{x:>{width}}` is format(x, ">{width}")
        move_to(position, colon + 1);
        part.value = call_of("format", std::move(part.value));
        as<CallExpr>(*part.value).args.emplace_back().value =
            nested_format({colon + 1, *close, position.line, position.column});
        part.format.clear();
      }
      node->parts.push_back(std::move(part));
      i = *close + 1;
    } else {
      text += c;
      i += (c == '{' || c == '}') && doubled ? 2 : 1;
    }
  }
  advance();
  if (node->parts.empty()) {
    auto plain = make<TextExpr>(node->span);
    plain->value = std::move(text);
    return plain;
  }
  if (!text.empty()) {
    node->parts.push_back({std::move(text), nullptr, ""});
  }
  return node;
}

/// A format specification that contains expressions: the interpolation of its text.
ExprPtr Parser::nested_format(LexRange range) {
  auto node = make<InterpolationExpr>(here());
  const std::string_view file = file_.text;
  std::string text;
  const uint32_t end = range.end;
  for (uint32_t i = range.begin; i < end;) {
    if (file[i] != '{') {
      text += file[i++];
      continue;
    }
    const auto close = static_cast<uint32_t>(file.find('}', i));
    InterpolationPart& part = node->parts.emplace_back();
    part.text = std::exchange(text, {});
    move_to(range, i + 1);
    part.value = interpolated({i + 1, close, range.line, range.column});
    i = close + 1;
  }
  if (!text.empty()) {
    node->parts.push_back({std::move(text), nullptr, ""});
  }
  return node;
}

/// The end of the expression in file.text[begin, end), before `=` of `{loss=}` or a conversion such as `!r`.
uint32_t Parser::value_end(uint32_t begin, uint32_t end) const {
  std::string_view inside = std::string_view(file_.text).substr(begin, end - begin);
  if (inside.ends_with("!r") || inside.ends_with("!s") || inside.ends_with("!a")) {
    return end - 2;
  }
  while (inside.ends_with(' ')) {
    inside.remove_suffix(1);
  }
  constexpr std::string_view kOperators = "=!<>";
  const bool is_shown = inside.size() > 1 && inside.back() == '=' &&
                        kOperators.find(inside[inside.size() - 2]) == std::string_view::npos;
  return is_shown ? begin + static_cast<uint32_t>(inside.size()) - 1 : end;
}

/// Advances `range.begin` to `offset`, counting lines.
void Parser::move_to(LexRange& range, uint32_t offset) const {
  for (; range.begin < offset; ++range.begin) {
    if (file_.text[range.begin] == '\n') {
      ++range.line;
      range.column = 1;
    } else {
      ++range.column;
    }
  }
}

/// The offset of the colon before a format specification in file.text[begin, end), or `end`.
uint32_t Parser::format_colon(uint32_t begin, uint32_t end) const {
  const std::string_view inside = std::string_view(file_.text).substr(begin, end - begin);
  // `{day:%H:%M}`: the format of a date begins with % and may have colons.
  const size_t date = inside.find(":%");
  const size_t colon = date != std::string_view::npos ? date : inside.rfind(':');
  if (colon == std::string_view::npos ||
      (date == std::string_view::npos && !is_format(inside.substr(colon + 1)))) {
    return end;
  }
  // A colon in brackets, or of a branch or a lambda, does not start a format specification.
  std::vector<Diagnostic> ignored;
  int depth = 0;
  const auto tokens = Lexer(file_, {begin, begin + static_cast<uint32_t>(colon), 1, 1}, ignored).run().tokens;
  const uint32_t first = tokens.front().start;
  for (const Token& token : tokens) {
    switch (token.kind) {
      case Tok::kLeftParen:
      case Tok::kLeftBracket:
      case Tok::kLeftBrace:
        ++depth;
        break;
      case Tok::kRightParen:
      case Tok::kRightBracket:
      case Tok::kRightBrace:
        --depth;
        break;
      case Tok::kIf:
        if (depth == 0 && token.start == first) {  // else of `a if c else b`
          return end;
        }
        break;
      case Tok::kMatch:
      case Tok::kBackslash:
      case Tok::kFn:
        if (depth == 0) {
          return end;
        }
        break;
      case Tok::kText:
        if (!token.terminated) {
          return end;
        }
        break;
      default:
        break;
    }
  }
  return depth == 0 ? begin + static_cast<uint32_t>(colon) : end;
}

/// Parses `range` as one expression, from its own token stream.
ExprPtr Parser::interpolated(LexRange range) {
  struct StreamScope {  // restores the outer token stream
    explicit StreamScope(Parser& of)
        : parser(of), stream(std::move(of.stream_)), pos(of.pos_), opened(of.opened_), context(of.context_) {}
    StreamScope(const StreamScope&) = delete;
    StreamScope& operator=(const StreamScope&) = delete;
    ~StreamScope() {
      parser.stream_ = std::move(stream);
      parser.pos_ = pos;
      parser.opened_ = opened;
      parser.context_ = context;
      parser.refresh();
    }
    Parser& parser;
    TokenStream stream;
    size_t pos;
    size_t opened;
    Context context;
  };
  StreamScope scope(*this);
  stream_ = Lexer(file_, range, diagnostics_).run();
  mark_fn_names();
  pos_ = opened_ = 0;
  context_ = Context{};
  context_.layout = false;
  refresh();
  if (is(Tok::kColon)) {
    fail("expected an expression before the format", "write the value in the braces, as in {loss:.4f}");
  }
  ExprPtr value = expression();
  if (!is(Tok::kEof)) {
    fail("expected '}' after the expression, found " + found(), "use '{{' for a literal brace");
  }
  return value;
}

}  // namespace spl
