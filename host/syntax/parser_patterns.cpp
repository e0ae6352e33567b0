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

/// `A | B`, `1, 2`: alternatives. `x, *rest` is a sequence, as in Python.
PatternPtr Parser::alternatives() {
  auto parts = make<TuplePattern>(here());
  do {
    note_star(*parts);
    parts->elements.push_back(part_pattern());
  } while (accept(Tok::kComma));
  if (parts->starred) {
    return parts;
  }
  if (parts->elements.size() == 1) {
    return std::move(parts->elements.front());
  }
  auto any = make<OrPattern>(parts->span);
  any->alternatives = std::move(parts->elements);
  any->has_commas = true;
  return any;
}

/// `P as name`.
PatternPtr Parser::with_alias(PatternPtr pattern) {
  if (accept(Tok::kAs)) {
    pattern->alias = expect_name("a name after 'as'");
  }
  return pattern;
}

/// A part of a pattern, where a comma ends it: `A | B`.
PatternPtr Parser::part_pattern() {
  const SourceSpan span = here();
  PatternPtr first = pattern();
  if (!is(Tok::kPipe)) {
    return with_alias(std::move(first));
  }
  auto any = make<OrPattern>(span);
  any->alternatives.push_back(std::move(first));
  while (accept(Tok::kPipe)) {
    any->alternatives.push_back(pattern());
  }
  return with_alias(std::move(any));
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
      const auto is_named = [](const FieldPattern& field) { return field.is_argument; };
      variant->is_class = is_port_ && std::all_of(variant->fields.begin(), variant->fields.end(), is_named);
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
  record->is_mapping = record->path.empty() && ahead().kind == Tok::kText;
  record->fields = field_patterns(Tok::kRightBrace, !record->is_mapping);
  return record;
}

/// With `shorthand`, `x` is short for `x: x`.
std::vector<FieldPattern> Parser::field_patterns(Tok close, bool shorthand) {
  Scope scope(*this);
  std::vector<FieldPattern> fields;
  open_bracket();
  while (!is(close)) {
    FieldPattern field;
    field.is_argument = is_port_ && close == Tok::kRightParen && is_name() && ahead().kind == Tok::kAssign;
    if (field.is_argument || (is_name() && ahead().kind == Tok::kColon)) {
      field.name = expect_name("a field");
      advance();
    } else if (!shorthand && close == Tok::kRightBrace) {  // {"key": pattern}
      const SourceSpan place = here();
      const ExprPtr key = is(Tok::kText) ? text() : nullptr;
      if (!key || key->kind != ExprKind::kText) {
        fail_at(place, "a key of a pattern must be a plain string");
      }
      field.name = intern(as<TextExpr>(*key).value);
      expect(Tok::kColon, "after the key");
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
    note_star(*tuple);
    tuple->elements.push_back(optionally_typed(part_pattern()));
    if (!accept(Tok::kComma)) {
      break;
    }
    comma = true;
  }
  close_bracket(Tok::kRightParen, "after the patterns");
  if (tuple->elements.size() == 1 && !comma && !tuple->starred) {
    return std::move(tuple->elements.front());
  }
  return tuple;
}

PatternPtr Parser::array_pattern() {
  Scope scope(*this);
  auto array = make<ArrayPattern>(here());
  open_bracket();
  while (!is(Tok::kRightBracket)) {
    if (is(Tok::kStar)) {
      return starred_sequence(std::move(array));
    }
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

/// `[first, *rest, last]`, at the star.
PatternPtr Parser::starred_sequence(std::unique_ptr<ArrayPattern> array) {
  auto tuple = make<TuplePattern>(array->span);
  tuple->elements = std::move(array->elements);
  while (!is(Tok::kRightBracket)) {
    note_star(*tuple);
    tuple->elements.push_back(optionally_typed(part_pattern()));
    if (!accept(Tok::kComma)) {
      break;
    }
  }
  close_bracket(Tok::kRightBracket, "after the patterns");
  return tuple;
}

/// The star of `*rest`, before the next of the tuple's patterns.
void Parser::note_star(TuplePattern& tuple) {
  const SourceSpan span = here();
  if (!accept(Tok::kStar)) {
    return;
  }
  if (tuple.starred) {
    fail_at(span, "only one variable may have a star");
  }
  tuple.starred = tuple.elements.size();
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
  auto tuple = make<TuplePattern>(here());
  note_star(*tuple);
  tuple->elements.push_back(optionally_typed(pattern()));
  if (!is(Tok::kComma)) {
    return std::move(tuple->elements[0]);
  }
  while (accept(Tok::kComma) && !is(Tok::kIn)) {  // `for x, in xs` has one variable
    note_star(*tuple);
    tuple->elements.push_back(optionally_typed(pattern()));
  }
  if (tuple->elements.size() == 2 && !tuple->starred) {
    second = std::move(tuple->elements[1]);
    return std::move(tuple->elements[0]);
  }
  return tuple;
}

}  // namespace spl
