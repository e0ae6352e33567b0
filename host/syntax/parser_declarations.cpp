// Functions, type aliases, attributes, and common parts of declarations.
#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "host/syntax/parser.h"

namespace spl {
namespace {

/// A docstring without common indentation and surrounding whitespace.
std::string dedented(std::string_view text) {
  size_t common = std::string_view::npos;
  for (size_t i = text.find('\n'); i != std::string_view::npos; i = text.find('\n', i + 1)) {
    const size_t word = text.find_first_not_of(" \t\r", i + 1);
    if (word == std::string_view::npos) {
      break;
    }
    if (text[word] != '\n') {
      common = std::min(common, word - i - 1);
    }
  }
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] != '\n') {
      continue;
    }
    for (size_t skipped = 0; skipped < common && i + 1 < text.size() && text[i + 1] != '\n'; ++skipped) {
      ++i;
    }
  }
  const size_t first = out.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) {
    return "";
  }
  return out.substr(first, out.find_last_not_of(" \t\r\n") - first + 1);
}

/// Names of attributes that change the declaration.
bool is_changing_attribute(std::string_view name) {
  static const std::unordered_set<std::string_view> names = {
      "static", "staticmethod", "classmethod", "property",   "extern_c",
      "direct", "strong",       "cuda_kernel", "gpu_kernel",
  };
  return names.contains(name);
}

/// Names of attributes for readers and other tools. Upstream's programs use them without a definition.
bool is_informative_attribute(std::string_view name) {
  static const std::unordered_set<std::string_view> names = {
      "inline",       "noinline",       "deprecated",   "allow",    "test",     "ignore",  "bench",
      "should_panic", "override",       "final",        "abstract", "must_use", "pure",    "io",
      "unsafe",       "abstractmethod", "repr",         "packed",   "align",    "section", "no_mangle",
      "naked",        "interrupt",      "entry",        "cfg",      "noreturn", "driver",  "cold",
      "used",         "weak",           "link_section",
  };
  return names.contains(name);
}

bool is_attribute_name(std::string_view name) {
  return is_changing_attribute(name) || is_informative_attribute(name);
}

bool has_attribute(const std::vector<Attribute>& attributes, std::string_view name) {
  return std::any_of(attributes.begin(), attributes.end(),
                     [&](const Attribute& attribute) { return name_of(attribute.name) == name; });
}

}  // namespace

bool Parser::starts_declaration() const {
  const bool named = can_name(ahead().kind) && !ahead().line_start;
  switch (kind_) {
    case Tok::kAt:
      return !is_field_of_self(pos_) && !starts_memory_mapped();
    case Tok::kHashBracket:
    case Tok::kPub:
    case Tok::kExtern:
    case Tok::kStruct:
    case Tok::kClass:
    case Tok::kEnum:
    case Tok::kTrait:
    case Tok::kImpl:
    case Tok::kUse:
    case Tok::kImport:
    case Tok::kExport:
      return true;
    case Tok::kMod:
      return named;
    case Tok::kMut:
      return ahead().kind == Tok::kStruct || ahead().kind == Tok::kClass;
    case Tok::kType:
    case Tok::kAlias: {
      const Tok next = ahead(2).kind;
      return named && (next == Tok::kAssign || next == Tok::kLess || next == Tok::kLeftBracket);
    }
    case Tok::kName:
      if (is_word("from")) {
        return named || ahead().kind == Tok::kDot || ahead().kind == Tok::kDotDot ||
               ahead().kind == Tok::kEnum;
      }
      if (is_word("private")) {
        return named || is_keyword(ahead().kind);
      }
      if (starts_actor() || starts_bitfield()) {
        return true;
      }
      return is_word("immut") && (ahead().kind == Tok::kStruct || ahead().kind == Tok::kClass);
    default:
      return starts_function();
  }
}

/// The index after the name at `at + 1` and its members, calls and subscripts.
size_t Parser::after_at_name(size_t at) const {
  size_t next = at + 2;
  for (;;) {
    const Token& token = stream_.tokens[next];
    if (token.line_start || token.space_before) {
      return next;
    }
    if (token.kind == Tok::kDot) {
      next += 2;
    } else if (token.kind == Tok::kLeftParen || token.kind == Tok::kLeftBracket) {
      const size_t close = matching_bracket(next);
      if (close == kNone) {
        return next;
      }
      next = close + 1;
    } else {
      return next;
    }
  }
}

/// Whether a token after attributes begins what they belong to.
bool Parser::begins_attributed(const Token& token) const {
  static const std::unordered_set<std::string_view> words = {"private",  "immut",   "actor",   "it",
                                                             "describe", "context", "slow_it", "limited_it"};
  switch (token.kind) {
    case Tok::kHashBracket:
    case Tok::kFn:
    case Tok::kStatic:
    case Tok::kAsync:
    case Tok::kExtern:
    case Tok::kPub:
    case Tok::kExport:
    case Tok::kStruct:
    case Tok::kClass:
    case Tok::kEnum:
    case Tok::kTrait:
    case Tok::kImpl:
    case Tok::kType:
    case Tok::kAlias:
      return true;
    default:
      return token.kind == Tok::kName && words.contains(spelling(token));
  }
}

/// Whether a statement with `@x`, which is self.x or a spec's variable, is at the token rather than an
/// attribute: the body of one line after a colon, an assignment, the last line of a block, or a line that no
/// declaration follows.
bool Parser::is_field_of_self(size_t at) const {
  const Token& name = stream_.tokens[at + 1];
  if ((!in_body_ && !is_spec_) || !can_name(name.kind) || name.space_before) {
    return false;
  }
  if (!stream_.tokens[at].line_start && stream_.tokens[at - 1].kind == Tok::kColon) {
    return true;
  }
  const size_t after = after_at_name(at);
  const Token& next = stream_.tokens[after];
  if (!next.line_start) {
    return (next.kind >= Tok::kPlusAssign && next.kind <= Tok::kShiftRightAssign) ||
           next.kind == Tok::kAssign;
  }
  if (next.kind == Tok::kEof || next.indent < context_.indent) {
    return true;
  }
  const bool has_member = stream_.tokens[at + 2].kind == Tok::kDot;
  if (after == at + 2 || (!has_member && is_attribute_name(spelling(name)))) {
    return false;
  }
  return next.kind == Tok::kAt ? is_field_of_self(after) : !begins_attributed(next);
}

StmtPtr Parser::declaration() {
  declaration_ = pos_;
  std::vector<Attribute> attributes = this->attributes();
  if (is(Tok::kUse) || is(Tok::kImport)) {
    return use(false);
  }
  if (is_word("from")) {
    return from_import();
  }
  if (is(Tok::kExport)) {
    if (starts_export_names()) {
      return export_names();
    }
    advance();
    if (is(Tok::kUse) || is(Tok::kImport)) {
      return use(true);
    }
    return bare_declaration(std::move(attributes), true);
  }
  const bool exported = visibility();
  if (is(Tok::kUse)) {
    return use(exported);
  }
  if (is(Tok::kMod)) {
    return submodule(exported);
  }
  return bare_declaration(std::move(attributes), exported);
}

/// `pub`, `pub(name)`, `private`.
bool Parser::visibility() {
  if (accept_word("private")) {
    return false;
  }
  if (!accept(Tok::kPub)) {
    return false;
  }
  if (is(Tok::kLeftParen)) {
    arguments(Tok::kRightParen);
  }
  return true;
}

/// A declaration after its attributes and its visibility.
StmtPtr Parser::bare_declaration(std::vector<Attribute> attributes, bool exported) {
  if (is(Tok::kMut) || is_word("immut")) {
    advance();
  }
  if (starts_actor()) {
    return record(std::move(attributes), exported);
  }
  if (starts_bitfield()) {
    return bitfield(std::move(attributes), exported);
  }
  switch (kind_) {
    case Tok::kStruct:
    case Tok::kClass:
      return record(std::move(attributes), exported);
    case Tok::kEnum:
      return enumeration(std::move(attributes), exported);
    case Tok::kTrait:
      return trait(std::move(attributes), exported);
    case Tok::kImpl:
      return implementation();
    case Tok::kType:
    case Tok::kAlias:
      return type_alias(std::move(attributes), exported);
    case Tok::kVal:
    case Tok::kVar:
    case Tok::kLet:
    case Tok::kConst:
      return bind_statement(exported);
    default:
      break;
  }
  if (!attributes.empty() && starts_example()) {
    StmtPtr example = expression_statement();
    mark_example(*example, std::move(attributes));
    return example;
  }
  if (!starts_function()) {
    fail_expected("a declaration");
  }
  return function(std::move(attributes), exported);
}

// ---- Attributes of examples -----------------------------------------------------------------------------

bool Parser::starts_example() const {
  const bool is_example = is_word("it") || is_word("slow_it") || is_word("limited_it") ||
                          is_word("describe") || is_word("context");
  return is_example && (ahead().kind == Tok::kText || ahead().kind == Tok::kLeftParen);
}

namespace {

/// The name of `@name`, `@name("why")` and `#[name]`, and the arguments.
std::pair<Symbol, std::vector<Arg>*> words_of(Attribute& attribute) {
  if (!attribute.decorator) {
    return {attribute.name, &attribute.args};
  }
  if (attribute.decorator->kind == ExprKind::kName) {
    return {as<NameExpr>(*attribute.decorator).name, nullptr};
  }
  if (attribute.decorator->kind == ExprKind::kCall) {
    auto& call = as<CallExpr>(*attribute.decorator);
    if (call.callee->kind == ExprKind::kName) {
      return {as<NameExpr>(*call.callee).name, &call.args};
    }
  }
  return {kNoSymbol, nullptr};
}

}  // namespace

/// `@skip` and `@pending` before an example or a group are arguments of it(); other attributes have no
/// effect.
void Parser::mark_example(Stmt& example, std::vector<Attribute> attributes) {
  if (example.kind != StmtKind::kExpr || as<ExprStmt>(example).value->kind != ExprKind::kCall) {
    return;
  }
  auto& call = as<CallExpr>(*as<ExprStmt>(example).value);
  for (Attribute& attribute : attributes) {
    const auto [symbol, args] = words_of(attribute);
    const std::string name = symbol == kNoSymbol ? "" : name_of(symbol);
    const bool is_pending = name == "pending" || name == "todo";
    if (!is_pending && name != "skip" && name != "ignore") {
      continue;
    }
    auto mark = make<TextExpr>(attribute.span);
    mark->value = is_pending ? "pending" : "skipped";
    call.args.push_back({ArgKind::kNamed, intern("mark"), std::move(mark)});
    if (args != nullptr && !args->empty()) {
      call.args.push_back({ArgKind::kNamed, intern("reason"), std::move(args->front().value)});
    }
    return;
  }
}

// ---- Attributes and documentation -----------------------------------------------------------------------

/// `@name(args)`, `@[a, b]`, `#[a, b]`, on the same line or on lines of their own.
std::vector<Attribute> Parser::attributes() {
  std::vector<Attribute> out;
  while (is(Tok::kAt) || is(Tok::kHashBracket)) {
    if (is(Tok::kAt) && ahead().kind != Tok::kLeftBracket) {
      advance();
      out.push_back(is_known_attribute() ? attribute() : decorator());
    } else {
      Scope scope(*this);
      accept(Tok::kAt);
      open_bracket();
      while (!is(Tok::kRightBracket)) {
        out.push_back(attribute());
        if (!accept(Tok::kComma)) {
          break;
        }
      }
      close_bracket(Tok::kRightBracket, "after the attributes");
    }
    if (is(Tok::kNewline) && current().indent == context_.indent) {
      begin_line();
    }
  }
  return out;
}

/// Whether an attribute that changes the declaration follows, rather than a decorator.
bool Parser::is_known_attribute() const {
  return is_changing_attribute(spelling(current())) && ahead().kind != Tok::kDot;
}

/// A name, its members, calls and subscripts, on one line.
Attribute Parser::decorator() {
  Attribute attribute;
  attribute.span = here();
  attribute.is_informative = is_informative_attribute(spelling(current())) && ahead().kind != Tok::kDot;
  auto callee = make<NameExpr>(here());
  callee->name = member_name();
  attribute.name = attribute.is_informative ? callee->name : kNoSymbol;
  attribute.decorator = std::move(callee);
  while (is(Tok::kDot) || is(Tok::kLeftParen) || (is(Tok::kLeftBracket) && touches_previous())) {
    attribute.decorator = postfix_operator(std::move(attribute.decorator));
  }
  return attribute;
}

Attribute Parser::attribute() {
  Attribute attribute;
  attribute.span = here();
  attribute.name = member_name();
  while (accept(Tok::kDot)) {
    attribute.name = member_name();
  }
  if (is(Tok::kLeftParen)) {
    attribute.args = arguments(Tok::kRightParen);
  } else if (accept(Tok::kAssign)) {
    attribute.args.push_back({ArgKind::kPositional, kNoSymbol, expression()});
  }
  const auto& name = name_of(attribute.name);
  if (name == "cuda_kernel" || name == "gpu_kernel") {
    fail_at(attribute.span, "kernels written in Simple are not supported");
  }
  return attribute;
}

/// Removes the docstring from the front of a body and returns it. A string on the header's line, or a plain
/// string that is the whole body, is the body's value instead.
std::string Parser::take_docstring(std::vector<StmtPtr>& statements, uint32_t header_line) const {
  if (statements.empty() || statements.front()->kind != StmtKind::kExpr) {
    return "";
  }
  const auto& value = as<ExprStmt>(*statements.front()).value;
  if (value->kind != ExprKind::kText || value->span.line == header_line) {
    return "";
  }
  const std::string_view quotes = std::string_view(file_.text).substr(value->span.start, 3);
  const bool triple = quotes == "\"\"\"" || quotes == "'''";
  if (!triple && statements.size() == 1) {
    return "";
  }
  std::string doc = dedented(as<TextExpr>(*value).value);
  statements.erase(statements.begin());
  return doc;
}

/// The doc comments directly above the current declaration.
std::string Parser::doc_comment() const {
  const size_t token = declaration_;
  const auto& comments = stream_.comments;
  auto after =
      std::upper_bound(comments.begin(), comments.end(), token,
                       [](size_t index, const Comment& comment) { return index < comment.before_token; });
  std::string doc;
  for (auto it = after; it != comments.begin();) {
    --it;
    if (it->before_token != token || !it->is_doc) {
      break;
    }
    std::string_view line = std::string_view(file_.text).substr(it->span.start, it->span.length);
    if (line.ends_with("*/")) {
      line.remove_suffix(2);
    }
    line.remove_prefix(std::min(line.find_first_not_of("#/*"), line.size()));
    std::string above = dedented(line);
    if (!doc.empty()) {
      above += '\n';
    }
    doc.insert(0, above);
  }
  return doc;
}

// ---- Functions ------------------------------------------------------------------------------------------

/// `fn name`, `me name`, `static fn`, `async fn`, `extern fn`. A function's name may be a keyword.
bool Parser::starts_function() const {
  const auto names_function = [&](size_t i) {
    const Token& token = ahead(i);
    return !token.line_start && (token.kind == Tok::kName || is_keyword(token.kind));
  };
  switch (kind_) {
    case Tok::kFn:
      return names_function(1);
    case Tok::kMe:
      return names_function(1) && !starts_me_call();
    case Tok::kStatic:
    case Tok::kAsync:
      return ahead().kind == Tok::kFn || ahead().kind == Tok::kMe || ahead().kind == Tok::kAsync ||
             ahead().kind == Tok::kStatic;
    case Tok::kExtern:
      return true;
    default:
      return false;
  }
}

namespace {

/// Python's names of the hooks of `/` are those of Simple.
Symbol division_hook(Symbol name) {
  static const std::array<std::pair<Symbol, Symbol>, 3> names{{{intern("__truediv__"), intern("__div__")},
                                                               {intern("__rtruediv__"), intern("__rdiv__")},
                                                               {intern("__itruediv__"), intern("__idiv__")}}};
  const auto* const found =
      std::find_if(names.begin(), names.end(), [&](const auto& pair) { return pair.first == name; });
  return found == names.end() ? name : found->second;
}

}  // namespace

FunctionPtr Parser::function(std::vector<Attribute> attributes, bool exported) {
  Level level(*this);
  auto node = make<FunctionDecl>(here());
  node->info.doc = doc_comment();
  node->info.exported = exported;
  node->is_static = has_attribute(attributes, "static") || has_attribute(attributes, "staticmethod") ||
                    (record_ != nullptr && has_attribute(attributes, "classmethod"));
  node->is_extern = has_attribute(attributes, "extern_c");
  node->info.attributes = std::move(attributes);
  for (; !is(Tok::kFn) && !is(Tok::kMe); advance()) {
    if (is(Tok::kStatic)) {
      node->is_static = true;
    } else if (is(Tok::kAsync)) {
      node->is_async = true;
    } else if (is(Tok::kExtern)) {
      node->is_extern = true;
    } else {
      fail_expected("'fn'");
    }
  }
  node->is_mutating = is(Tok::kMe);
  advance();
  if (node->is_mutating && is(Tok::kFn) && ahead().kind != Tok::kLeftParen) {
    advance();  // me fn name
  }
  node->span = here();
  node->info.name = division_hook(member_name());
  signature(*node);
  function_body(*node);
  return node;
}

void Parser::signature(FunctionDecl& function) {
  if (is(Tok::kLess) || is(Tok::kLeftBracket)) {
    function.info.generics = generic_params();
  }
  if (!is(Tok::kLeftParen)) {
    fail_expected("'(' after the function name");
  }
  function.params = parameters(&function.takes_self);
  if (accept(Tok::kAsync)) {
    function.is_async = true;
  }
  if (accept(Tok::kArrow)) {
    function.return_type = type();
  }
  if (accept(Tok::kWhere)) {
    where_clause(function.info.generics);
  }
}

void Parser::function_body(FunctionDecl& function) {
  const uint32_t line = previous().line;
  const BodyScope scope(*this);
  if (function.is_extern && is(Tok::kColon)) {
    fail("an extern function cannot have a body");
  }
  if (!accept(Tok::kColon)) {
    if (!at_statement_end() && !is(Tok::kSemicolon)) {
      fail_expected("':' after the function signature");
    }
    return;
  }
  const bool outer_uses_self = std::exchange(uses_self_, false);
  function.body = block_after_colon();
  function.uses_self = std::exchange(uses_self_, outer_uses_self || uses_self_);
  std::string doc = take_docstring(function.body->statements, line);
  if (!doc.empty()) {
    function.info.doc = std::move(doc);
  }
}

/// A parenthesized parameter list. `self` in any form is dropped and sets `takes_self`.
std::vector<Param> Parser::parameters(bool* takes_self) {
  Scope scope(*this);
  std::vector<Param> params;
  bool only_named = false;
  open_bracket();
  while (!is(Tok::kRightParen)) {
    if (takes_self != nullptr && params.empty() && self_parameter()) {
      *takes_self = true;
    } else if (is(Tok::kSlash) && !params.empty()) {
      advance();  // Python passes the parameters before it by position only
    } else if (is(Tok::kStar) && !names_variadic()) {
      begin_only_named(params, only_named);
      only_named = true;
    } else {
      params.push_back(parameter());
      check_one_variadic(params);
      params.back().only_named = only_named && params.back().kind == ParamKind::kNormal;
    }
    if (!accept(Tok::kComma)) {
      break;
    }
  }
  close_bracket(Tok::kRightParen, "after the parameters");
  check_distinct(params);
  return params;
}

/// Whether `*name` follows, Python's spelling of `name...`.
bool Parser::names_variadic() const { return ahead().kind == Tok::kName; }

void Parser::check_one_variadic(const std::vector<Param>& params) {
  const auto is_rest = [](const Param& param) { return param.kind == ParamKind::kRest; };
  if (is_rest(params.back()) && std::count_if(params.begin(), params.end(), is_rest) > 1) {
    fail_at(params.back().span, "a function can have one variadic parameter");
  }
}

/// `*,` as in Python: only names pass arguments to the parameters after it.
void Parser::begin_only_named(const std::vector<Param>& params, bool again) {
  const auto is_rest = [](const Param& param) { return param.kind == ParamKind::kRest; };
  if (again || std::any_of(params.begin(), params.end(), is_rest)) {
    fail("'*' cannot follow another '*' or a variadic parameter");
  }
  advance();
  if (!is(Tok::kComma) || ahead().kind == Tok::kRightParen || ahead().kind == Tok::kStarStar) {
    fail("a parameter that is passed by name must follow '*'");
  }
}

void Parser::check_distinct(const std::vector<Param>& params) {
  std::unordered_set<Symbol> seen;
  for (const Param& param : params) {
    if (!seen.insert(param.name).second && name_of(param.name) != "_") {
      fail_at(param.span, "duplicate parameter " + in_quotes(name_of(param.name)));
    }
  }
}

/// `self`, `mut self`, `&mut self`, `self: mut Self`.
bool Parser::self_parameter() {
  size_t i = 0;
  if (ahead(i).kind == Tok::kAmpersand) {
    ++i;
  }
  if (ahead(i).kind == Tok::kMut) {
    ++i;
  }
  if (ahead(i).kind != Tok::kSelf) {
    return false;
  }
  for (; i > 0; --i) {
    advance();
  }
  advance();
  if (accept(Tok::kColon)) {
    type();
  }
  return true;
}

/// `**` of a parameter that collects named arguments, Python's `*` of one that collects positional ones, or
/// neither.
ParamKind Parser::stars() {
  if (accept(Tok::kStarStar)) {
    return ParamKind::kNamed;
  }
  return accept(Tok::kStar) ? ParamKind::kRest : ParamKind::kNormal;
}

Param Parser::parameter() {
  if (is(Tok::kLeftParen)) {
    return lambda_param(true);
  }
  Param param;
  param.kind = stars();
  accept(Tok::kMut);
  param.span = here();
  param.name = expect_name("a parameter");
  if (param.kind == ParamKind::kNormal && accept(Tok::kEllipsis)) {
    param.kind = ParamKind::kRest;
  }
  if (accept(Tok::kColon)) {
    param.type = type();
  }
  if (accept(Tok::kEllipsis)) {
    param.kind = ParamKind::kRest;  // xs: T...
  }
  if (accept(Tok::kAssign)) {
    if (param.kind != ParamKind::kNormal) {
      fail("a variadic parameter cannot have a default value");
    }
    param.default_value = expression();
  }
  return param;
}

/// `<T, U: Bound = Default, const N: i64>` or the same in square brackets.
std::vector<GenericParam> Parser::generic_params() {
  Scope scope(*this);
  std::vector<GenericParam> params;
  const Tok close = is(Tok::kLess) ? Tok::kGreater : Tok::kRightBracket;
  if (is(Tok::kLess)) {
    advance();
  } else {
    open_bracket();
  }
  while (!is(close)) {
    params.push_back(generic_param());
    if (!accept(Tok::kComma)) {
      break;
    }
  }
  if (!accept(close)) {
    fail_expected(close == Tok::kGreater ? "'>' after the parameters" : "']' after the parameters");
  }
  return params;
}

GenericParam Parser::generic_param() {
  GenericParam param;
  param.is_const = accept(Tok::kConst);
  param.span = here();
  param.name = expect_name("a type parameter");
  if (accept(Tok::kColon)) {
    param.bound = type();
    while (accept(Tok::kPlus)) {
      type();  // other bounds have no effect
    }
  }
  if (accept(Tok::kAssign)) {
    param.default_type = type();
  }
  return param;
}

/// `where T: Bound, U: Bound`: sets the bounds of the named parameters.
void Parser::where_clause(std::vector<GenericParam>& generics) {
  do {
    GenericParam constraint = generic_param();
    for (auto& known : generics) {
      if (known.name == constraint.name && !known.bound) {
        known.bound = std::move(constraint.bound);
      }
    }
  } while (accept(Tok::kComma));
}

/// `type A<T> = …`, `alias A = B`.
StmtPtr Parser::type_alias(std::vector<Attribute> attributes, bool exported) {
  auto node = make<TypeAliasDecl>(here());
  type_head(*node, std::move(attributes), exported, "a type name");
  expect(Tok::kAssign, "after the type name");
  node->type = type();
  return node;
}

}  // namespace spl
