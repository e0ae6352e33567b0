// Forms of Python that ported programs keep: variables named `fn`, annotated assignments, enums as classes,
// `yield from`, methods of variables as values, and handlers of missing keys.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "host/syntax/parser.h"

namespace spl {

// ---- Variables that are named `fn` ------------------------------------------------------------------------

/// Makes `fn` a name in a module that uses it as one, where neither a declaration nor a lambda follows.
void Parser::mark_fn_names() {
  auto& tokens = stream_.tokens;
  for (size_t i = 0; i < tokens.size() && !has_fn_name_; ++i) {
    has_fn_name_ = tokens[i].kind == Tok::kFn && names_fn(i);
  }
  for (size_t i = 0; has_fn_name_ && i < tokens.size(); ++i) {
    if (tokens[i].kind == Tok::kFn && !declares_function(i) && !starts_fn_lambda(i)) {
      tokens[i].kind = Tok::kName;
    }
  }
}

/// Whether the `fn` at this token can only be a name.
bool Parser::names_fn(size_t index) const {
  const auto& tokens = stream_.tokens;
  if (index > 0 && (tokens[index - 1].kind == Tok::kDot || tokens[index - 1].kind == Tok::kMe)) {
    return false;
  }
  const Token& next = tokens[std::min(index + 1, tokens.size() - 1)];
  if (next.line_start) {
    return index > 0 && !tokens[index].line_start;
  }
  switch (next.kind) {
    case Tok::kComma:
    case Tok::kRightParen:
    case Tok::kRightBracket:
    case Tok::kIn:
    case Tok::kDot:
      return true;
    case Tok::kAssign:
      return tokens[index].line_start || is_parameter(index) ||
             (index > 0 && (tokens[index - 1].kind == Tok::kVar || tokens[index - 1].kind == Tok::kVal));
    case Tok::kColon:
      return is_parameter(index);
    default:
      return false;
  }
}

/// Whether the token follows `(` or `,` among the parameters of a function.
bool Parser::is_parameter(size_t index) const {
  const auto& tokens = stream_.tokens;
  int depth = 0;
  for (size_t i = index; i-- > 0;) {
    const Tok kind = tokens[i].kind;
    if (kind == Tok::kRightParen || kind == Tok::kRightBracket || kind == Tok::kRightBrace) {
      ++depth;
    } else if (kind == Tok::kLeftParen && depth == 0) {
      return i >= 2 && tokens[i - 2].kind == Tok::kFn;
    } else if (kind == Tok::kLeftParen || kind == Tok::kLeftBracket || kind == Tok::kLeftBrace) {
      --depth;
    }
  }
  return false;
}

/// Whether `fn name(` or `fn name<T>` follows.
bool Parser::declares_function(size_t index) const {
  const auto& tokens = stream_.tokens;
  if (index + 2 >= tokens.size() || tokens[index + 1].line_start) {
    return false;
  }
  const Token &name = tokens[index + 1], &open = tokens[index + 2];
  const bool opens =
      open.kind == Tok::kLeftParen || open.kind == Tok::kLess || open.kind == Tok::kLeftBracket;
  return (name.kind == Tok::kName || is_keyword(name.kind)) && opens && !open.space_before;
}

/// Whether `fn(x): e` or a type `fn(T) -> U` follows. After `if fn(x):` and its like the colon is the
/// statement's.
bool Parser::starts_fn_lambda(size_t index) const {
  const auto& tokens = stream_.tokens;
  if (index + 1 >= tokens.size() || tokens[index + 1].kind != Tok::kLeftParen) {
    return false;
  }
  const size_t close = matching_bracket(index + 1);
  if (close == kNone || close + 1 >= tokens.size()) {
    return false;
  }
  if (tokens[close + 1].kind == Tok::kArrow) {
    return true;
  }
  if (tokens[close + 1].kind != Tok::kColon) {
    return false;
  }
  for (size_t i = index; i-- > 0;) {
    const Token& token = tokens[i];
    if (token.kind == Tok::kLeftParen || token.kind == Tok::kComma || token.kind == Tok::kAssign) {
      return true;
    }
    if (token.kind == Tok::kLeftBrace || token.kind == Tok::kLeftBracket) {
      return false;
    }
    if (token.line_start) {
      const bool is_header = token.kind == Tok::kIf || token.kind == Tok::kElif ||
                             token.kind == Tok::kWhile || token.kind == Tok::kFor ||
                             token.kind == Tok::kWith || token.kind == Tok::kMatch;
      return !is_header;
    }
  }
  return true;
}

/// `__doc__`: the text between the quotes at the start of the file, nil without one.
ExprPtr Parser::docstring_of_module(const SourceSpan& span) const {
  const Token& first = stream_.tokens.front();
  if (first.kind != Tok::kText || !first.text.triple || !first.terminated) {
    return make<NilExpr>(span);
  }
  auto doc = make<TextExpr>(span);
  const uint32_t opening = first.text.opening();
  doc->value = spelling(first).substr(opening, first.length - opening - first.text.closing());
  return doc;
}

// ---- Assignments ------------------------------------------------------------------------------------------

namespace {

// Other words before the end of a line are not taken for a type: `esle: done`.
bool is_type_of_python(std::string_view word) {
  static constexpr std::string_view kWords[] = {"int",  "float", "str", "bool", "bytes", "list",
                                                "dict", "tuple", "set", "any",  "torch", "nn"};
  const bool is_class = !word.empty() && word[0] >= 'A' && word[0] <= 'Z';
  return is_class || std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

}  // namespace

/// `x: T = e`, `self.x: T = e`, and `x: T` without a value: the type has no effect. Returns null if no colon
/// and type follow the target.
StmtPtr Parser::annotated_assignment(ExprPtr& target) {
  const bool is_target = target->kind == ExprKind::kName || target->kind == ExprKind::kField;
  if (!is_target || !is(Tok::kColon) || ahead().line_start) {
    return nullptr;
  }
  const size_t start = pos_, diagnostics = diagnostics_.size();
  const bool names_type = is_type_of_python(spelling(ahead()));
  try {
    advance();
    if (!accept(Tok::kText)) {  // the name of a class that is declared below
      type();
    }
  } catch (const Abandon&) {
    diagnostics_.resize(diagnostics);
    restore(start);
    return nullptr;
  }
  if (is(Tok::kAssign)) {
    return assignment(std::move(target));
  }
  if (names_type && at_statement_end()) {
    return make<PassStmt>(target->span);
  }
  restore(start);
  return nullptr;
}

void Parser::restore(size_t position) {
  pos_ = position;
  refresh();
}

namespace {

/// A variable, or fields of one or of self; null for other expressions.
ExprPtr copy_of_path(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kName: {
      auto copy = make<NameExpr>(expr.span);
      copy->name = as<NameExpr>(expr).name;
      return copy;
    }
    case ExprKind::kSelf:
      return make<SelfExpr>(expr.span);
    case ExprKind::kField: {
      const auto& field = as<FieldExpr>(expr);
      ExprPtr object = field.nil_safe ? nullptr : copy_of_path(*field.object);
      if (!object) {
        return nullptr;
      }
      auto copy = make<FieldExpr>(expr.span);
      copy->object = std::move(object);
      copy->name = field.name;
      return copy;
    }
    default:
      return nullptr;
  }
}

/// The same, or `xs[i]` with a variable as the index.
ExprPtr copy_of_place(const Expr& expr) {
  if (expr.kind != ExprKind::kIndex) {
    return copy_of_path(expr);
  }
  const auto& index = as<IndexExpr>(expr);
  const bool is_plain =
      index.subscripts.size() == 1 && !index.tuple && index.subscripts[0]->kind == ExprKind::kName;
  ExprPtr object = is_plain ? copy_of_place(*index.object) : nullptr;
  if (!object) {
    return nullptr;
  }
  auto copy = make<IndexExpr>(expr.span);
  copy->object = std::move(object);
  copy->subscripts.push_back(copy_of_path(*index.subscripts[0]));
  return copy;
}

bool changes_collection(Symbol name) {
  static const std::array<Symbol, 8> names{intern("append"), intern("extend"), intern("push"),
                                           intern("insert"), intern("update"), intern("setdefault"),
                                           intern("remove"), intern("pop")};
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

/// `xs.append` as a value: __method__(xs, "append", \a...: xs.append(a...)), which is the lambda if `xs` is
/// an array or a dict. Other values are returned unchanged.
ExprPtr Parser::method_of_variable(ExprPtr value) {
  if (value->kind != ExprKind::kField || !changes_collection(as<FieldExpr>(*value).name)) {
    return value;
  }
  ExprPtr object = copy_of_path(*as<FieldExpr>(*value).object);
  if (!object || as<FieldExpr>(*value).nil_safe) {
    return value;
  }
  const SourceSpan span = value->span;
  auto name = make<TextExpr>(span);
  name->value = name_of(as<FieldExpr>(*value).name);
  auto lambda = make<LambdaExpr>(span);
  Param& rest = lambda->params.emplace_back();
  rest.span = span;
  rest.name = intern("#arguments");
  rest.kind = ParamKind::kRest;
  auto passed = make<NameExpr>(span);
  passed->name = rest.name;
  auto change = make<CallExpr>(span);
  change->callee = std::move(value);
  change->args.push_back({ArgKind::kSpread, kNoSymbol, std::move(passed)});
  lambda->body = block_of(statement_of(span, std::move(change)));
  ExprPtr call = call_of("__method__", std::move(object));
  auto& args = static_cast<CallExpr&>(*call).args;
  args.emplace_back().value = std::move(name);
  args.emplace_back().value = std::move(lambda);
  return call;
}

/// `d.setdefault(k, [])`, whose result the program changes, is `d[k]` after statements that set the default:
/// the result would be a copy.
void Parser::split_default(ExprPtr& value, std::vector<StmtPtr>& before) {
  static const Symbol name = intern("setdefault");
  if (!is_port_ || value->kind != ExprKind::kCall || as<CallExpr>(*value).callee->kind != ExprKind::kField ||
      as<FieldExpr>(*as<CallExpr>(*value).callee).name != name) {
    return;
  }
  auto& call = static_cast<CallExpr&>(*value);
  auto& dict = static_cast<FieldExpr&>(*call.callee).object;
  if (call.args.size() != 2 || call.args[0].kind != ArgKind::kPositional ||
      call.args[1].kind != ArgKind::kPositional) {
    return;
  }
  split_default(dict, before);
  ExprPtr place = copy_of_place(*dict);
  if (!place) {
    return;
  }
  const SourceSpan span = value->span;
  const Symbol key = intern("#key" + std::to_string(call.args[0].value->span.start));
  const auto variable = [&] {
    auto node = make<NameExpr>(span);
    node->name = key;
    return node;
  };
  auto assignment = make<AssignStmt>(span);
  assignment->targets.push_back(variable());
  assignment->value = std::exchange(call.args[0].value, variable());
  before.push_back(std::move(assignment));
  before.push_back(statement_of(span, std::move(value)));
  auto element = make<IndexExpr>(span);
  element->object = std::move(place);
  element->subscripts.push_back(variable());
  value = std::move(element);
}

/// `d.setdefault(k, []).append(x)` as a statement; null for other ones, which keep their expression.
StmtPtr Parser::change_of_default(ExprPtr& statement) {
  if (statement->kind != ExprKind::kCall || as<CallExpr>(*statement).callee->kind != ExprKind::kField) {
    return nullptr;
  }
  auto& method = static_cast<FieldExpr&>(*static_cast<CallExpr&>(*statement).callee);
  std::vector<StmtPtr> statements;
  if (changes_collection(method.name)) {
    split_default(method.object, statements);
  }
  if (statements.empty()) {
    return nullptr;
  }
  auto all = make<UnsafeStmt>(statement->span);
  const SourceSpan span = statement->span;
  statements.push_back(statement_of(span, std::move(statement)));
  all->body = block_of(std::move(statements.front()));
  std::move(statements.begin() + 1, statements.end(), std::back_inserter(all->body.statements));
  return all;
}

/// `random.shuffle(xs)` changes its argument in Python. Here, where a call cannot change an array:
///
///     if __can_shuffle__(random, xs): xs[:] = __shuffled__(random, xs)
///     else: random.shuffle(xs)
///
/// Null for other statements, which keep their expression.
ExprPtr Parser::shuffled_in_place(ExprPtr& statement) {
  static const Symbol shuffle = intern("shuffle");
  if (statement->kind != ExprKind::kCall) {
    return nullptr;
  }
  const auto& call = as<CallExpr>(*statement);
  const bool is_method = call.callee->kind == ExprKind::kField && as<FieldExpr>(*call.callee).name == shuffle;
  const bool is_function = call.callee->kind == ExprKind::kName && as<NameExpr>(*call.callee).name == shuffle;
  if ((!is_method && !is_function) || call.args.size() != 1 || call.args[0].kind != ArgKind::kPositional) {
    return nullptr;
  }
  const Expr& by = is_method ? *as<FieldExpr>(*call.callee).object : *call.callee;
  const Expr& items = *call.args[0].value;
  if (!copy_of_path(by) || !copy_of_path(items) || items.kind == ExprKind::kSelf) {
    return nullptr;
  }
  const SourceSpan span = statement->span;
  const auto asked = [&](const char* function) {
    ExprPtr question = call_of(function, copy_of_path(by));
    static_cast<CallExpr&>(*question).args.emplace_back().value = copy_of_path(items);
    return question;
  };
  auto place = make<IndexExpr>(span);
  place->object = copy_of_path(items);
  place->subscripts.push_back(make<SliceExpr>(span));
  auto change = make<AssignStmt>(span);
  change->targets.push_back(std::move(place));
  change->value = asked("__shuffled__");
  auto choice = make<IfExpr>(span);
  IfClause& clause = choice->clauses.emplace_back();
  clause.span = span;
  clause.condition.value = asked("__can_shuffle__");
  clause.body = block_of(std::move(change));
  choice->otherwise = block_of(statement_of(span, std::move(statement)));
  return choice;
}

// ---- Classes of dict and list -----------------------------------------------------------------------------

/// `class Config(dict)` derives from a class of std.user_collections, as `class Bag(list)` does.
void Parser::derive_from_collections(std::vector<TypePtr>& parents) {
  for (const TypePtr& parent : parents) {
    if (parent->kind != TypeKind::kName || parent->path.size() != 1 || parent->keyword != kNoSymbol) {
      continue;
    }
    const std::string& name = name_of(parent->path[0]);
    if (name == "dict" || name == "list") {
      const Symbol user = intern(name == "dict" ? "UserDict" : "UserList");
      parent->path[0] = intern("#" + name_of(user));
      if (std::find(user_collections_.begin(), user_collections_.end(), user) == user_collections_.end()) {
        user_collections_.push_back(user);
      }
    } else if (name == "str" || name == "tuple" || name == "int" || name == "float" || name == "set") {
      fail_at(parent->span, "a class cannot derive from " + in_quotes(name),
              "keep the value in a field, and define the methods that the program uses");
    }
  }
}

/// Imports the classes for which dict and list stand among parents.
void Parser::import_collections(Module& module) const {
  if (user_collections_.empty() || module.statements.empty()) {
    return;
  }
  auto use = make<UseDecl>(module.statements.front()->span);
  use->path = {intern("std"), intern("user_collections")};
  use->alias = intern("#user_collections");
  for (const Symbol name : user_collections_) {
    use->names.push_back({name, intern("#" + name_of(name)), use->span});
  }
  module.statements.insert(module.statements.begin(), std::move(use));
}

// ---- Enums ------------------------------------------------------------------------------------------------

/// Whether the class is `class Color(Enum)`.
bool Parser::is_enum_of_python(const RecordDecl& record) {
  if (!record.is_class || record.parents.size() != 1 || record.parents[0]->kind != TypeKind::kName) {
    return false;
  }
  const std::string& parent = name_of(record.parents[0]->path.back());
  if (parent == "IntEnum" || parent == "StrEnum" || parent == "Flag" || parent == "IntFlag") {
    fail_at(record.span, "a class of " + parent + " is not supported",
            "derive from Enum, and use .value where a number or a string is needed");
  }
  return parent == "Enum";
}

namespace {

/// `auto()` and `enum.auto()`.
bool calls_auto(const Expr& value) {
  static const Symbol automatic = intern("auto");
  if (value.kind != ExprKind::kCall) {
    return false;
  }
  const Expr& callee = *as<CallExpr>(value).callee;
  return (callee.kind == ExprKind::kName && as<NameExpr>(callee).name == automatic) ||
         (callee.kind == ExprKind::kField && as<FieldExpr>(callee).name == automatic);
}

}  // namespace

/// The enum whose variants are the fields of `class Color(Enum): RED = 1`. `auto()` counts from 1.
StmtPtr Parser::enum_of_class(RecordDecl& record) {
  auto node = make<EnumDecl>(record.span);
  node->is_of_python = true;
  node->info = std::move(record.info);
  node->methods = std::move(record.methods);
  int64_t last = 0;
  for (FieldDecl& field : record.fields) {
    VariantDecl& variant = node->variants.emplace_back();
    variant.name = field.name;
    variant.span = field.span;
    if (!field.default_value) {
      fail_at(field.span, "a member of an Enum needs a value", "write " + name_of(field.name) + " = 1");
    }
    const Expr& value = *field.default_value;
    if (calls_auto(value)) {
      auto number = make<IntExpr>(field.span);
      number->value = last + 1;
      field.default_value = std::move(number);
    }
    if (field.default_value->kind == ExprKind::kInt) {
      last = as<IntExpr>(*field.default_value).value;
    }
    variant.value = std::move(field.default_value);
  }
  if (node->variants.empty() || !record.constants.empty()) {
    fail_at(record.span, "a class of Enum has members with values, and methods", "RED = 1");
  }
  return node;
}

// ---- yield from -------------------------------------------------------------------------------------------

/// `yield from e` yields what `e` yields, passes on what is sent, and has the value that `e` returns:
///
///     val #d = __delegate__(e)
///     var #sent = nil
///     while #d.advance(#sent): #sent = yield #d.value
///     #d.result
ExprPtr Parser::yield_from(const SourceSpan& span) {
  const std::string number = std::to_string(span.start);
  const Symbol delegate = intern("#delegate" + number), sent = intern("#sent" + number);
  const auto variable = [&](Symbol name) {
    auto node = make<NameExpr>(span);
    node->name = name;
    return node;
  };
  const auto field = [&](const char* name) {
    auto node = make<FieldExpr>(span);
    node->object = variable(delegate);
    node->name = intern(name);
    return node;
  };
  const auto declaration = [&](Symbol name, ExprPtr value, BindKind bind) {
    auto pattern = make<BindingPattern>(span);
    pattern->name = name;
    auto node = make<BindStmt>(span);
    node->bind = bind;
    node->pattern = std::move(pattern);
    node->value = std::move(value);
    return node;
  };
  auto step = make<AssignStmt>(span);
  step->targets.push_back(variable(sent));
  auto yielded = make<UnaryExpr>(span);
  yielded->op = UnaryOp::kYield;
  yielded->operand = field("value");
  step->value = std::move(yielded);
  auto advances = make<CallExpr>(span);
  advances->callee = field("advance");
  advances->args.emplace_back().value = variable(sent);
  auto loop = make<WhileStmt>(span);
  loop->condition.value = std::move(advances);
  loop->body = block_of(std::move(step));
  IfClause always;
  always.span = span;
  auto condition = make<BoolExpr>(span);
  condition->value = true;
  always.condition.value = std::move(condition);
  always.body = block_of(declaration(delegate, call_of("__delegate__", expression()), BindKind::kVal));
  auto& statements = always.body.statements;
  statements.push_back(declaration(sent, make<NilExpr>(span), BindKind::kVar));
  statements.push_back(std::move(loop));
  statements.push_back(statement_of(span, field("result")));
  auto node = make<IfExpr>(span);
  node->clauses.push_back(std::move(always));
  return node;
}

// ---- Missing keys -----------------------------------------------------------------------------------------

/// Whether the `except` at this token names one of the classes, or, with `bare`, none.
bool Parser::catches_one_of(size_t token, std::initializer_list<std::string_view> names, bool bare) const {
  const auto& tokens = stream_.tokens;
  if (spelling(tokens[token]) != "except" || !tokens[token].line_start) {
    return false;
  }
  size_t i = token + 1;
  if (tokens[i].kind == Tok::kColon) {
    return bare;
  }
  for (; i < tokens.size() && tokens[i].kind != Tok::kColon && !tokens[i].line_start; ++i) {
    if (std::find(names.begin(), names.end(), spelling(tokens[i])) != names.end()) {
      return true;
    }
  }
  return false;
}

/// A module that catches KeyError reads dicts as Python does, and in one that catches StopIteration `next(x)`
/// raises it at the end.
void Parser::note_key_handlers() {
  for (size_t i = 0; i + 1 < stream_.tokens.size(); ++i) {
    checks_keys_ = checks_keys_ || catches_one_of(i, {"KeyError"}, false);
    next_raises_ = next_raises_ || catches_one_of(i, {"StopIteration"}, false);
  }
}

/// At the first token of a `try`: whether one of its clauses catches every error.
bool Parser::catches_all(uint32_t indent) const {
  const auto& tokens = stream_.tokens;
  for (size_t i = pos_ + 1; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].line_start || tokens[i].indent > indent) {
      continue;
    }
    const std::string_view word = spelling(tokens[i]);
    if (catches_one_of(i, {"Exception", "BaseException", "LookupError"}, true)) {
      return true;
    }
    if (tokens[i].indent < indent || (word != "except" && word != "else" && word != "finally")) {
      return false;
    }
  }
  return false;
}

}  // namespace spl
