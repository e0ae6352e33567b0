// `try`, `except`, `else` and `finally` of Python, which ported programs keep. The statement becomes a `with`
// whose resource, a Caught of std.exceptions, handles the errors that an `except` names:
//
//     val #caught = __caught__([["ValueError"], []])
//     with #caught: …
//     if #caught.clause == 0: …
//     elif #caught.clause == 1: …
//     else: …                       # of the `try`
//
// `finally` is a `defer` before these statements.
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "host/syntax/parser.h"

namespace spl {

namespace {

// What Simple does not raise where Python does, so that the block of its `except` would be left out silently.
struct Absent {
  std::string_view name, why, instead;
};
constexpr std::array<Absent, 1> kAbsent{{
    {"SystemExit", "exit() ends the program", "do not call exit() here"},
}};

template <class Node>
std::unique_ptr<Node> at(const SourceSpan& span) {
  auto node = std::make_unique<Node>();
  node->span = span;
  return node;
}

ExprPtr name_of_variable(const SourceSpan& span, Symbol name) {
  auto node = at<NameExpr>(span);
  node->name = name;
  return node;
}

ExprPtr field_of(const SourceSpan& span, Symbol variable, const char* field) {
  auto node = at<FieldExpr>(span);
  node->object = name_of_variable(span, variable);
  node->name = intern(field);
  return node;
}

StmtPtr binding_of(const SourceSpan& span, Symbol name, ExprPtr value) {
  auto pattern = std::make_unique<BindingPattern>();
  pattern->span = span;
  pattern->name = name;
  auto node = at<BindStmt>(span);
  node->pattern = std::move(pattern);
  node->value = std::move(value);
  return node;
}

}  // namespace

bool Parser::starts_try() const {
  return is_word("try") && ahead().kind == Tok::kColon && !ahead().line_start;
}

StmtPtr Parser::try_statement() {
  const SourceSpan start = here();
  const uint32_t indent = current().indent;
  auto caught = at<ArrayExpr>(start);
  const Symbol variable = intern("#caught" + std::to_string(start.start));
  advance();
  auto scope = at<WithStmt>(start);
  scope->items.emplace_back().resource = name_of_variable(start, variable);
  const bool outer_checks = std::exchange(checks_keys_, checks_keys_ || catches_all(indent));
  scope->body = body("after 'try'");
  checks_keys_ = outer_checks;
  auto chosen = at<IfExpr>(start);
  while (accept_clause("except", indent)) {
    except_clause(variable, *caught, *chosen);
  }
  if (accept_clause("else", indent)) {
    chosen->otherwise = body("after 'else'");
  }
  auto whole = at<UnsafeStmt>(start);
  auto& statements = whole->body.statements;
  whole->body.span = start;
  if (accept_clause("finally", indent)) {
    auto last = at<DeferStmt>(start);
    last->body = body("after 'finally'");
    statements.push_back(std::move(last));
  } else if (caught->elements.empty()) {
    if (accept_clause("catch", indent)) {
      fail_at(span_of(previous()), "'catch' is not a keyword", "use 'except E as e:', or 'except:' for all");
    }
    fail_expected("'except' or 'finally' after the block of 'try'");
  }
  statements.push_back(binding_of(start, variable, call_of("__caught__", std::move(caught))));
  statements.push_back(std::move(scope));
  if (chosen->clauses.empty()) {
    if (chosen->otherwise) {
      fail_at(start, "'else' of a 'try' needs an 'except'");
    }
  } else {
    auto choice = at<ExprStmt>(start);
    choice->value = std::move(chosen);
    statements.push_back(std::move(choice));
  }
  return whole;
}

/// Accepts the word, at a line start with this indentation.
bool Parser::accept_clause(std::string_view word, uint32_t indent) {
  const Token& token = current();
  if (spelling(token) != word || !token.line_start || token.indent != indent) {
    return false;
  }
  begin_line();
  advance();
  return true;
}

/// `except:`, `except E:`, `except (E, F) as e:`. Adds the classes to `caught` and the handler to `chosen`.
void Parser::except_clause(Symbol variable, ArrayExpr& caught, IfExpr& chosen) {
  const SourceSpan span = here();
  auto classes = at<ArrayExpr>(span);
  Symbol name = kNoSymbol;
  if (!is(Tok::kColon)) {
    Scope scope(*this);
    context_.no_cast = context_.no_braces = true;
    ExprPtr value = expression();
    if (value->kind == ExprKind::kTuple) {
      for (auto& element : static_cast<TupleExpr&>(*value).elements) {
        classes->elements.emplace_back().value = exception_class(std::move(element));
      }
    } else {
      classes->elements.emplace_back().value = exception_class(std::move(value));
    }
    if (accept(Tok::kAs)) {
      name = expect_name("a name after 'as'");
    }
  }
  auto test = at<BinaryExpr>(span);
  auto number = at<IntExpr>(span);
  number->value = static_cast<int64_t>(caught.elements.size());
  test->op = BinaryOp::kEqual;
  test->left = field_of(span, variable, "clause");
  test->right = std::move(number);
  IfClause clause;
  clause.span = span;
  clause.condition.value = std::move(test);
  handled_.push_back(variable);
  clause.body = body("after the exception");
  handled_.pop_back();
  if (name != kNoSymbol) {
    auto& statements = clause.body.statements;
    statements.insert(statements.begin(), binding_of(span, name, field_of(span, variable, "error")));
  }
  chosen.clauses.push_back(std::move(clause));
  caught.elements.emplace_back().value = std::move(classes);
}

/// A class of Python's as its name; another class as it is.
ExprPtr Parser::exception_class(ExprPtr value) {
  Symbol name = kNoSymbol;
  if (value->kind == ExprKind::kName) {
    name = as<NameExpr>(*value).name;
  } else if (value->kind == ExprKind::kField) {
    const Expr* root = value.get();
    while (root->kind == ExprKind::kField) {
      root = as<FieldExpr>(*root).object.get();
    }
    const bool is_torch = root->kind == ExprKind::kName && name_of(as<NameExpr>(*root).name) == "torch";
    name = is_torch ? as<FieldExpr>(*value).name : kNoSymbol;
  }
  if (name == kNoSymbol || !is_exception_name(name_of(name))) {
    return value;
  }
  for (const Absent& absent : kAbsent) {
    if (absent.name == name_of(name)) {
      fail_at(value->span, "'except " + name_of(name) + "' is not supported: " + std::string(absent.why),
              std::string(absent.instead));
    }
  }
  if (value->kind == ExprKind::kName) {
    exceptions_.pop_back();
  }
  auto text = at<TextExpr>(value->span);
  text->value = name_of(name);
  return text;
}

/// Keeps the name of an exception that is used as a class: as a parent, or as a value.
void Parser::note_exception(const Token& token) {
  const std::string_view word = spelling(token);
  if (!word.empty() && word[0] >= 'A' && word[0] <= 'Z' && is_exception_name(word)) {
    exceptions_.push_back(token.symbol);
  }
}

namespace {

// Adds the names that the statement declares.
void add_names(const Stmt& stmt, std::unordered_set<Symbol>& names) {
  switch (stmt.kind) {
    case StmtKind::kRecord:
      names.insert(as<RecordDecl>(stmt).info.name);
      break;
    case StmtKind::kTrait:
      names.insert(as<TraitDecl>(stmt).info.name);
      break;
    case StmtKind::kTypeAlias:
      names.insert(as<TypeAliasDecl>(stmt).info.name);
      break;
    case StmtKind::kFunction:
      names.insert(as<FunctionDecl>(stmt).info.name);
      break;
    case StmtKind::kEnum:
      names.insert(as<EnumDecl>(stmt).info.name);
      for (const VariantDecl& variant : as<EnumDecl>(stmt).variants) {
        names.insert(variant.name);
      }
      break;
    case StmtKind::kBind:
      if (as<BindStmt>(stmt).pattern->kind == PatternKind::kBinding) {
        names.insert(as<BindingPattern>(*as<BindStmt>(stmt).pattern).name);
      }
      break;
    case StmtKind::kUse:
      for (const ImportName& name : as<UseDecl>(stmt).names) {
        names.insert(name.alias);
      }
      break;
    default:
      break;
  }
}

}  // namespace

/// Imports the classes of std.exceptions that the module names and does not declare.
void Parser::import_exceptions(Module& module) {
  if (exceptions_.empty() || module.statements.empty()) {  // empty: every statement has an error
    return;
  }
  std::unordered_set<Symbol> known;
  for (const auto& stmt : module.statements) {
    add_names(*stmt, known);
  }
  auto use = at<UseDecl>(module.statements.front()->span);
  use->path = {intern("std"), intern("exceptions")};
  use->alias = intern("#exceptions");
  for (const Symbol name : exceptions_) {
    if (known.insert(name).second) {
      use->names.push_back({name, name, use->span});
    }
  }
  if (!use->names.empty()) {
    module.statements.insert(module.statements.begin(), std::move(use));
  }
}

/// `raise` alone, in the block of an `except`.
StmtPtr Parser::raise_again() {
  const SourceSpan span = here();
  advance();
  if (handled_.empty()) {
    fail_at(span, "'raise' without an exception stands only in the block of an 'except'", "call panic(…)");
  }
  return statement_of(span, call_of("__raise__", name_of_variable(span, handled_.back())));
}

}  // namespace spl
