// Primary expressions: numbers, names, parentheses.
#include <charconv>
#include <cstdlib>

#include "host/syntax/parser.h"

namespace spl {
namespace {

/// Whether `value` is in the range of the suffix i8 … u32. `negated`: a minus precedes the literal.
bool fits_suffix(uint64_t value, std::string_view suffix, bool negated) {
  if (suffix.size() < 2 || suffix == "i64" || suffix == "u64" || suffix[0] == 'f') {
    return true;
  }
  const int width = std::atoi(suffix.data() + 1);
  const uint64_t max = suffix[0] == 'u' ? (uint64_t{1} << width) - 1 : (uint64_t{1} << (width - 1)) - 1;
  return value <= max || (negated && suffix[0] == 'i' && value == max + 1);
}

/// The start of a number's suffix: after the digits of its radix.
size_t suffix_start(std::string_view text, int base, bool is_float) {
  size_t i = base == 10 ? 0 : 2;
  const auto is_digit_of = [&](char c) {
    if (c == '_') {
      return true;
    }
    if (base == 16) {
      return std::isxdigit(static_cast<unsigned char>(c)) != 0;
    }
    return c >= '0' && c < '0' + base;
  };
  while (i < text.size() && is_digit_of(text[i])) {
    ++i;
  }
  if (!is_float) {
    return i;
  }
  if (i < text.size() && text[i] == '.') {
    ++i;
  }
  while (i < text.size() && is_digit_of(text[i])) {
    ++i;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    i += i + 1 < text.size() && (text[i + 1] == '+' || text[i + 1] == '-') ? 2 : 1;
    while (i < text.size() && is_digit_of(text[i])) {
      ++i;
    }
  }
  return i;
}

std::string without_underscores(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != '_') {
      digits += c;
    }
  }
  return digits;
}

bool is_number_suffix(std::string_view suffix) {
  for (const auto known : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"}) {
    if (suffix == known) {
      return true;
    }
  }
  return false;
}

}  // namespace

ExprPtr Parser::primary() {
  switch (kind_) {
    case Tok::kInt:
    case Tok::kFloat:
      return number();
    case Tok::kText:
      return text();
    case Tok::kTrue:
    case Tok::kFalse:
    case Tok::kNil:
    case Tok::kSelf:
      return constant();
    case Tok::kMe:
      return ahead(2).kind == Tok::kLeftParen ? method_of_self() : name_or_new();
    case Tok::kAt:
      return starts_memory_mapped() ? memory_mapped() : field_of_self();
    case Tok::kLeftParen:
      return starts_arrow_lambda() ? arrow_lambda() : parenthesized();
    case Tok::kLeftBracket:
      return array();
    case Tok::kLeftBrace:
      return dict();
    case Tok::kBackslash:
      return backslash_lambda();
    case Tok::kFn:
      return fn_lambda();
    case Tok::kPipe:
    case Tok::kPipePipe:
      return bar_lambda();
    case Tok::kIf:
      return if_expression(false);
    case Tok::kMatch:
      return match_expression();
    case Tok::kEllipsis: {
      auto all = make<NameExpr>(here());
      all->name = intern("Ellipsis");
      advance();
      return all;
    }
    case Tok::kYield:
      return yield_expression();
    case Tok::kSuper:
      return super_call();
    case Tok::kAsync:
      fail(found() + " is not supported here");
    case Tok::kSpawn:
      if (ahead().kind == Tok::kLeftParen && !ahead().space_before) {
        return name();  // a function of that name
      }
      return spawn_expression();
    default:
      return name_or_new();  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): the result owns it
  }
}

/// Whether a statement `me name(…)` calls a method of self. A body or a result type after it makes it a
/// declaration.
bool Parser::starts_me_call() const {
  if (!in_body_ || pos_ != statement_ || !can_name(ahead().kind) || ahead(2).kind != Tok::kLeftParen) {
    return false;
  }
  const size_t close = matching_bracket(pos_ + 2);
  if (close == kNone) {
    return false;
  }
  const Tok next = stream_.tokens[close + 1].kind;
  return next != Tok::kColon && next != Tok::kArrow;
}

/// `me name(…)` is self.name(…).
ExprPtr Parser::method_of_self() {
  uses_self_ = true;
  advance();
  auto field = make<FieldExpr>(here());
  field->object = make<SelfExpr>(here());
  field->name = member_name();
  return field;
}

/// `@x` is self.x; in the blocks of a spec, which have no self, a variable of the file.
ExprPtr Parser::field_of_self() {
  const SourceSpan span = here();
  advance();
  if (!is_name() || !touches_previous()) {
    fail_at(span, "expected an expression, found '@'");
  }
  if (is_spec_ && !in_body_) {
    auto variable = make<NameExpr>(span);
    variable->name = intern("@" + name_of(member_name()));
    inner_variables_.push_back(variable->name);
    return variable;
  }
  uses_self_ = true;
  auto field = make<FieldExpr>(here());
  field->object = make<SelfExpr>(span);
  field->name = member_name();
  return field;
}

/// Whether Python's spelling of a lambda follows: `lambda x, *rest: e`, `lambda: e`.
bool Parser::starts_python_lambda() const {
  const Token& next = ahead();
  const bool has_parameters = next.kind == Tok::kName || next.kind == Tok::kStar ||
                              next.kind == Tok::kStarStar || next.kind == Tok::kColon;
  return is_word("lambda") && has_parameters && !next.line_start;
}

/// `super().m(a)` and `super(C, self).m(a)`: super(key_of_class(C), Parent, self, "m").m(self, a), where the
/// call of the keyword stands for Op::kSuper. `__init__` of a class without a parent has no effect.
ExprPtr Parser::super_call() {
  const SourceSpan span = here();
  auto field = make<FieldExpr>(span);
  field->object = super_of_record(span);
  advance();
  if (is(Tok::kLeftParen)) {
    arguments(Tok::kRightParen);  // the class and self, which are known
  }
  if (!accept(Tok::kDot)) {
    fail_expected("'.' and a method after 'super()'");
  }
  field->name = member_name();
  if (static const Symbol init = intern("init"); field->name == init) {
    field->name = intern("__init__");  // the same method of Simple's classes; Python's have only this name
  }
  field->span = from(span);
  auto name = make<TextExpr>(span);
  name->value = name_of(field->name);
  auto& next_class = static_cast<CallExpr&>(*field->object);
  next_class.args.emplace_back().value = self_of_super(span);
  next_class.args.emplace_back().value = std::move(name);
  if (!is(Tok::kLeftParen)) {
    static_cast<NameExpr&>(*next_class.callee).name = intern("__super_attribute__");
    return std::move(field->object);
  }
  static const Symbol initializer = intern("__init__");
  field->nil_safe = record_->parents.empty() && field->name == initializer;
  auto call = make<CallExpr>(span);
  call->args = arguments(Tok::kRightParen);
  Arg self;
  self.value = self_of_super(span);
  call->args.insert(call->args.begin(), std::move(self));
  call->callee = std::move(field);
  call->span = from(span);
  return call;
}

ExprPtr Parser::self_of_super(const SourceSpan& span) {
  auto self = make<SelfExpr>(span);
  self->may_be_class = true;
  return self;
}

ExprPtr Parser::super_of_record(const SourceSpan& span) {
  ExprPtr parent = parent_of_record(span);
  auto function = make<NameExpr>(span);
  function->name = intern("super");
  auto key = make<IntExpr>(span);
  key->value = key_of_class(*record_);
  auto call = make<CallExpr>(span);
  call->callee = std::move(function);
  call->args.resize(2);
  call->args[0].value = std::move(key);
  call->args[1].value = std::move(parent);
  return call;
}

/// The first parent of the record around the current token, as an expression. A computed one is a class of
/// another language, for which the record's own name stands.
ExprPtr Parser::parent_of_record(const SourceSpan& span) {
  if (record_ != nullptr && record_->parents.empty() && record_->is_class) {
    return make<NilExpr>(span);  // another parent of a class that inherits this one is next
  }
  const TypeExpr* first =
      record_ == nullptr || record_->parents.empty() ? nullptr : record_->parents.front().get();
  if (first == nullptr || (first->kind != TypeKind::kName && first->kind != TypeKind::kComputed)) {
    fail("'super' outside a class that has a parent", "call the method by its type: Parent.init(self, …)");
  }
  const std::vector<Symbol> path =
      first->kind == TypeKind::kName ? first->path : std::vector<Symbol>{record_->info.name};
  auto name = make<NameExpr>(span);
  name->name = path.front();
  ExprPtr parent = std::move(name);
  for (size_t i = 1; i < path.size(); ++i) {
    auto field = make<FieldExpr>(span);
    field->object = std::move(parent);
    field->name = path[i];
    parent = std::move(field);
  }
  return parent;
}

/// `true`, `false`, `nil`, `self`.
ExprPtr Parser::constant() {
  const SourceSpan span = here();
  const Tok kind = kind_;
  advance();
  if (kind == Tok::kNil) {
    return make<NilExpr>(span);
  }
  if (kind == Tok::kSelf) {
    uses_self_ = true;
    return make<SelfExpr>(span);
  }
  auto node = make<BoolExpr>(span);
  node->value = kind == Tok::kTrue;
  return node;
}

ExprPtr Parser::name_or_new() {
  if (is(Tok::kDot) && ahead().kind == Tok::kInt) {
    fail_expected("an expression",
                  "a float needs a digit before the point: 0." + std::string(spelling(ahead())));
  }
  if (!is_name()) {
    fail_expected("an expression", doubled_operator_hint());
  }
  if (starts_new()) {
    return new_expression();
  }
  if (starts_python_lambda()) {
    return backslash_lambda();
  }
  return starts_arrow_lambda() ? arrow_lambda() : name();
}

ExprPtr Parser::number() {
  const std::string_view whole = spelling(current());
  const char radix = whole.size() > 1 && whole[0] == '0' ? static_cast<char>(whole[1] | 0x20) : '\0';
  const int base = radix == 'x' ? 16 : radix == 'b' ? 2 : radix == 'o' ? 8 : 10;
  const size_t split = suffix_start(whole, base, is(Tok::kFloat));
  const std::string_view suffix = whole.substr(split);
  if (!suffix.empty() && !is_number_suffix(suffix)) {
    const bool unit = whole[split - 1] == '_';
    fail(unit ? "numbers with units are not supported" : "invalid number " + in_quotes(whole),
         unit ? "" : "valid suffixes: i8 to i64, u8 to u64, f32, f64");
  }
  const Symbol symbol = suffix.empty() ? kNoSymbol : intern(suffix);
  const std::string digits =
      without_underscores(whole.substr(base == 10 ? 0 : 2, split - (base == 10 ? 0 : 2)));
  if (is(Tok::kInt) && (suffix.empty() || suffix[0] != 'f')) {
    return integer(digits, base, symbol);
  }
  if (base != 10) {
    fail("a hexadecimal, binary or octal number must be an integer");
  }
  auto node = make<FloatExpr>(here());
  node->value = std::strtod(digits.c_str(), nullptr);
  node->suffix = symbol;
  advance();
  return node;
}

/// 2^63 is allowed after a minus. Larger values are allowed as u64 or in another base, which set the bits.
ExprPtr Parser::integer(std::string_view digits, int base, Symbol suffix) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    fail("invalid number " + found());
  }
  constexpr uint64_t kMinimum = uint64_t{1} << 63;
  const bool bits = base != 10 || name_of(suffix) == "u64";
  const bool negated = pos_ > 0 && previous().kind == Tok::kMinus && value == kMinimum;
  if (error == std::errc::result_out_of_range || (value >= kMinimum && !bits && !negated)) {
    fail("integer literal out of range for i64");
  }
  if (base == 10 && !fits_suffix(value, name_of(suffix), pos_ > 0 && previous().kind == Tok::kMinus)) {
    fail("integer literal out of range for " + name_of(suffix));
  }
  auto node = make<IntExpr>(here());
  node->value = static_cast<int64_t>(value);
  node->suffix = suffix;
  advance();
  return node;
}

ExprPtr Parser::name() {
  const Token& token = current();
  const std::string_view word = spelling(token);
  if (ahead().kind == Tok::kLeftBrace && word == "m" && !ahead().space_before) {
    fail("m{} blocks are not supported");
  }
  if (is_port_ && word == "None") {  // elsewhere an Option without a value
    auto nil = make<NilExpr>(here());
    advance();
    return nil;
  }
  auto node = make<NameExpr>(here());
  node->name = token.symbol;
  if (word == "_" && arguments_ > 0) {  // elsewhere it is a name: the last value of a session
    node->name = intern("_" + std::to_string(++placeholders_));
  } else if (word.size() == 2 && word[0] == '_' && word[1] >= '1' && word[1] <= '9') {
    placeholders_ = std::max(placeholders_, static_cast<uint32_t>(word[1] - '0'));
  }
  note_exception(token);
  advance();
  if (word == "__doc__" && !is(Tok::kAssign)) {
    return docstring_of_module(node->span);
  }
  return node;
}

/// `(e)`, `()`, `(a, b)`, `(x: 1, y: 2)`.
ExprPtr Parser::parenthesized() {
  Scope scope(*this);
  auto tuple = make<TupleExpr>(here());
  open_bracket();
  bool is_tuple = is(Tok::kRightParen);
  while (!is(Tok::kRightParen)) {
    if ((is_name() || is_keyword(kind_)) && ahead().kind == Tok::kColon && !starts_python_lambda() &&
        !starts_assigning_expression()) {
      is_tuple = true;
      tuple->names.resize(tuple->elements.size());
      tuple->names.push_back(member_name());
      advance();
    }
    tuple->elements.push_back(expression());
    if (is(Tok::kFor) && !is_tuple) {
      auto result = generator_expression(tuple->span, std::move(tuple->elements.front()));
      close_bracket(Tok::kRightParen, "after the generator expression");
      return result;
    }
    if (!accept(Tok::kComma)) {
      break;
    }
    is_tuple = true;
  }
  close_bracket(Tok::kRightParen, "after the expression");
  if (!is_tuple) {
    return std::move(tuple->elements.front());
  }
  if (!tuple->names.empty()) {
    tuple->names.resize(tuple->elements.size());
    return tuple;
  }
  return with_spreads(std::move(tuple));
}

bool Parser::starts_new() const {
  if (!is_word("new") || ahead().line_start) {
    return false;
  }
  if (ahead().kind == Tok::kName) {
    return true;
  }
  if (ahead().kind != Tok::kLeftParen) {
    return false;
  }
  const Tok sigil = ahead(2).kind;
  return (sigil == Tok::kAmpersand || sigil == Tok::kStar || sigil == Tok::kPlus || sigil == Tok::kMinus) &&
         ahead(3).kind == Tok::kRightParen;
}

/// `new T(…)`, `new(&) T(…)`.
ExprPtr Parser::new_expression() {
  Level level(*this);
  auto node = make<NewExpr>(here());
  advance();
  if (is(Tok::kLeftParen)) {
    advance();
    node->sigil = spelling(current());
    advance();
    advance();
  }
  node->operand = postfix();
  return node;
}

}  // namespace spl
