// Patterns of match arms, bindings and loops.
#include <algorithm>
#include <array>
#include <cctype>

#include "host/syntax/parser.h"

namespace spl {
namespace {

/// The built-in types with lowercase names.
bool is_type_word(std::string_view word) {
  static constexpr std::array<std::string_view, 18> kWords = {"i8",  "i16", "i32",   "i64",   "u8",   "u16",
                                                              "u32", "u64", "f32",   "f64",   "bool", "text",
                                                              "str", "int", "float", "usize", "nil",  "any"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

}  // namespace

/// `A | B`, `1, 2`: alternatives.
PatternPtr Parser::alternatives() {
  const SourceSpan span = here();
  PatternPtr first = pattern();
  if (!is(Tok::kPipe) && !is(Tok::kComma)) {
    return first;
  }
  auto any = make<OrPattern>(span);
  any->alternatives.push_back(std::move(first));
  while (accept(Tok::kPipe) || accept(Tok::kComma)) {
    any->alternatives.push_back(pattern());
  }
  return any;
}

/// A part of a pattern, where a comma ends it: `A | B`.
PatternPtr Parser::part_pattern() {
  const SourceSpan span = here();
  PatternPtr first = pattern();
  if (!is(Tok::kPipe)) {
    return first;
  }
  auto any = make<OrPattern>(span);
  any->alternatives.push_back(std::move(first));
  while (accept(Tok::kPipe)) {
    any->alternatives.push_back(pattern());
  }
  return any;
}

PatternPtr Parser::pattern() {
  Level level(*this);
  switch (kind_) {
    case Tok::kInt:
    case Tok::kFloat:
    case Tok::kText:
    case Tok::kMinus:
    case Tok::kTrue:
    case Tok::kFalse:
    case Tok::kNil:
      return literal_pattern();
    case Tok::kLeftParen:
      return tuple_pattern();
    case Tok::kLeftBracket:
      return array_pattern();
    case Tok::kLeftBrace:
      return struct_pattern({}, here());
    case Tok::kMut: {
      auto binding = make<BindingPattern>(here());
      advance();
      binding->name = expect_name("a name");
      binding->is_mutable = true;
      return binding;
    }
    default:
      break;
  }
  if (!is_name()) {
    fail_expected("a pattern", is_keyword(kind_) ? in_quotes(spelling(current())) + " is a keyword" : "");
  }
  return named_pattern();
}

/// A number, string, bool or nil, or a range of numbers.
PatternPtr Parser::literal_pattern() {
  auto literal = make<LiteralPattern>(here());
  literal->value = pattern_value();
  if (!is(Tok::kDotDot) && !is(Tok::kDotDotEqual)) {
    return literal;
  }
  auto range = make<RangeExpr>(here());
  range->inclusive = is(Tok::kDotDotEqual);
  advance();
  range->start = std::move(literal->value);
  range->end = pattern_value();
  literal->value = std::move(range);
  return literal;
}

ExprPtr Parser::pattern_value() {
  const SourceSpan span = here();
  if (is(Tok::kMinus) && (ahead().kind == Tok::kInt || ahead().kind == Tok::kFloat)) {
    advance();
    ExprPtr number = this->number();
    if (number->kind == ExprKind::kInt) {
      auto& value = as<IntExpr>(*number).value;
      value = static_cast<int64_t>(0 - static_cast<uint64_t>(value));
    } else {
      as<FloatExpr>(*number).value *= -1;
    }
    number->span = from(span);
    return number;
  }
  if (is(Tok::kMinus)) {
    fail_expected("a pattern");
  }
  ExprPtr value = primary();
  if (value->kind == ExprKind::kInterpolation) {
    fail_at(span, "a pattern cannot be an interpolated string");
  }
  return value;
}

/// `_`, a name, `Variant(…)`, `Enum.Variant(…)`, `Name { … }`.
PatternPtr Parser::named_pattern() {
  const SourceSpan span = here();
  std::vector<Symbol> path{expect_name("a name")};
  if (name_of(path[0]) == "_") {
    if (is(Tok::kLeftParen)) {  // _("why")
      Scope scope(*this);
      open_bracket();
      expression();
      close_bracket(Tok::kRightParen, "after the reason");
    }
    return make<WildcardPattern>(span);
  }
  while (is(Tok::kDot) || is(Tok::kColonColon)) {
    advance();
    path.push_back(member_name());
  }
  if (is(Tok::kLeftBrace)) {
    return struct_pattern(std::move(path), span);
  }
  if (is(Tok::kLeftParen) || path.size() > 1) {
    auto variant = make<VariantPattern>(span);
    if (is(Tok::kLeftParen)) {
      variant->fields = field_patterns(Tok::kRightParen, false);
    }
    variant->path = std::move(path);
    variant->span = from(span);
    return variant;
  }
  auto binding = make<BindingPattern>(span);
  binding->name = path[0];
  if (context_.arms && is(Tok::kColon) && starts_pattern_type()) {
    advance();
    binding->type = type();
  }
  return binding;
}

/// At the colon of `case n: i64 => …`, which could also precede a body: whether a type follows.
bool Parser::starts_pattern_type() {
  const Tok first = ahead().kind;
  const bool plain = first == Tok::kName && !ahead().line_start;
  if (!plain && first != Tok::kLeftBracket && first != Tok::kLeftParen && first != Tok::kFn) {
    return false;
  }
  const size_t start = pos_;
  const size_t diagnostics = diagnostics_.size();
  Scope scope(*this);
  bool is_type = false;
  try {
    advance();
    type();
    is_type = is(Tok::kFatArrow) || is(Tok::kArrow) || is(Tok::kIf) || (is(Tok::kColon) && plain);
  } catch (const Abandon&) {
    diagnostics_.resize(diagnostics);
  }
  // The body of `case n: f => …` is a lambda.
  size_t last = start + 1;
  while (stream_.tokens[last + 1].kind == Tok::kDot) {
    last += 2;
  }
  const std::string_view word = spelling(stream_.tokens[last]);
  const bool lambda = plain && std::islower(static_cast<unsigned char>(word[0])) != 0 && !is_type_word(word);
  pos_ = start;
  return is_type && !lambda;
}

PatternPtr Parser::struct_pattern(std::vector<Symbol> path, SourceSpan span) {
  auto record = make<StructPattern>(span);
  record->path = std::move(path);
  record->fields = field_patterns(Tok::kRightBrace, true);
  return record;
}

/// With `shorthand`, `x` is short for `x: x`.
std::vector<FieldPattern> Parser::field_patterns(Tok close, bool shorthand) {
  Scope scope(*this);
  std::vector<FieldPattern> fields;
  open_bracket();
  while (!is(close)) {
    FieldPattern field;
    if (is_name() && ahead().kind == Tok::kColon) {
      field.name = expect_name("a field");
      advance();
    }
    const SourceSpan start = here();
    field.pattern = part_pattern();
    if (shorthand && field.name == kNoSymbol) {
      if (field.pattern->kind != PatternKind::kBinding) {
        fail_at(start, "expected 'field: pattern'");
      }
      field.name = as<BindingPattern>(*field.pattern).name;
    }
    fields.push_back(std::move(field));
    if (!accept(Tok::kComma)) {
      break;
    }
  }
  close_bracket(close, "after the patterns");
  return fields;
}

PatternPtr Parser::tuple_pattern() {
  Scope scope(*this);
  auto tuple = make<TuplePattern>(here());
  open_bracket();
  bool comma = false;
  while (!is(Tok::kRightParen)) {
    tuple->elements.push_back(optionally_typed(part_pattern()));
    if (!accept(Tok::kComma)) {
      break;
    }
    comma = true;
  }
  close_bracket(Tok::kRightParen, "after the patterns");
  if (tuple->elements.size() == 1 && !comma) {
    return std::move(tuple->elements.front());
  }
  return tuple;
}

PatternPtr Parser::array_pattern() {
  Scope scope(*this);
  auto array = make<ArrayPattern>(here());
  open_bracket();
  while (!is(Tok::kRightBracket)) {
    if (accept(Tok::kEllipsis) || accept(Tok::kDotDot)) {
      array->has_rest = true;
      if (is_name()) {
        array->rest = expect_name("a name");
      }
      break;
    }
    array->elements.push_back(optionally_typed(part_pattern()));
    if (!accept(Tok::kComma)) {
      break;
    }
  }
  close_bracket(Tok::kRightBracket, "after the patterns");
  return array;
}

/// `x` or `x: T`, in contexts where no body follows a colon.
PatternPtr Parser::optionally_typed(PatternPtr pattern) {
  if (pattern->kind == PatternKind::kBinding && accept(Tok::kColon)) {
    as<BindingPattern>(*pattern).type = type();
  }
  return pattern;
}

/// The patterns before `in`: one, two (see ForStmt), or more, which destructure a tuple.
PatternPtr Parser::loop_pattern(PatternPtr& second) {
  const SourceSpan span = here();
  PatternPtr first = optionally_typed(pattern());
  if (!accept(Tok::kComma)) {
    return first;
  }
  if (is(Tok::kIn)) {  // `for x, in xs`
    auto only = make<TuplePattern>(span);
    only->elements.push_back(std::move(first));
    return only;
  }
  second = optionally_typed(pattern());
  if (!is(Tok::kComma)) {
    return first;
  }
  auto tuple = make<TuplePattern>(span);
  tuple->elements.push_back(std::move(first));
  tuple->elements.push_back(std::move(second));
  while (accept(Tok::kComma)) {
    tuple->elements.push_back(pattern());
  }
  return tuple;
}

}  // namespace spl
