// Statements and forms of Python that programs keep when they are ported: global, nonlocal, raise, del, and
// tests of types.
#include <algorithm>

#include "host/syntax/parser.h"

namespace spl {

ExprPtr Parser::call_of(const char* function, ExprPtr argument) {
  auto name = make<NameExpr>(argument->span);
  name->name = intern(function);
  auto call = make<CallExpr>(argument->span);
  call->callee = std::move(name);
  call->args.emplace_back().value = std::move(argument);
  return call;
}

/// Returns null if none of these statements follows.
StmtPtr Parser::python_statement() {
  const Token& next = ahead();
  if (is_word("raise") && (next.line_start || next.kind == Tok::kEof || next.kind == Tok::kSemicolon)) {
    return raise_again();
  }
  if (!is(Tok::kName) || next.line_start || !next.space_before) {
    return nullptr;
  }
  const std::string_view word = spelling(current());
  const bool names = can_name(next.kind) || next.kind == Tok::kVar || next.kind == Tok::kVal;
  if (names && (word == "global" || word == "nonlocal")) {
    return outer_variables(word == "global");
  }
  if (can_name(next.kind) && word == "raise") {
    return raise_statement();
  }
  if ((names || next.kind == Tok::kSelf || next.kind == Tok::kLeftParen) && word == "del") {
    return del_statement();
  }
  return nullptr;
}

/// `global a, b`: variables of the module. `nonlocal a` has no effect, because an assignment changes the
/// variable of the enclosing function anyway.
StmtPtr Parser::outer_variables(bool of_module) {
  auto statement = make<PassStmt>(here());
  do {
    advance();
    const Symbol name = member_name();
    if (of_module) {
      globals_.push_back(name);
    }
  } while (is(Tok::kComma));
  return statement;
}

/// Whether the name is one of Python's exceptions, or of PyTorch's, that programs raise or catch.
bool Parser::is_exception_name(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "Exception",         "BaseException",     "ValueError",          "TypeError",
      "RuntimeError",      "KeyError",          "IndexError",          "LookupError",
      "AttributeError",    "AssertionError",    "NotImplementedError", "ArithmeticError",
      "ZeroDivisionError", "OverflowError",     "FloatingPointError",  "ImportError",
      "OSError",           "FileNotFoundError", "FileExistsError",     "ModuleNotFoundError",
      "PermissionError",   "TimeoutError",      "EnvironmentError",    "IOError",
      "EOFError",          "StopIteration",     "StopAsyncIteration",  "KeyboardInterrupt",
      "SystemExit",        "RecursionError",    "UnicodeDecodeError",  "NameError",
      "MemoryError",       "OutOfMemoryError",  "LinAlgError",         "Warning",
      "UserWarning",       "FutureWarning",     "RuntimeWarning",      "DeprecationWarning"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

/// `type(x) == T`, `type(x) is T`, `type(x) in (T, U)` and their negations.
bool Parser::tests_type(const BinaryExpr& expr) {
  if (expr.left->kind != ExprKind::kCall) {
    return false;
  }
  const auto& call = as<CallExpr>(*expr.left);
  static const Symbol type = intern("type");
  if (call.callee->kind != ExprKind::kName || as<NameExpr>(*call.callee).name != type ||
      call.args.size() != 1) {
    return false;
  }
  switch (expr.op) {
    case BinaryOp::kEqual:
    case BinaryOp::kNotEqual:
    case BinaryOp::kIs:
    case BinaryOp::kIsNot:
      return true;
    case BinaryOp::kIn:
    case BinaryOp::kNotIn:
      return expr.right->kind == ExprKind::kTuple || expr.right->kind == ExprKind::kArray;
    default:
      return false;
  }
}

namespace {

// Python's functions that are types there.
bool is_type_function(const Expr& expr) {
  static constexpr std::string_view kNames[] = {"int",  "float", "str",   "bool",
                                                "list", "dict",  "tuple", "set"};
  return expr.kind == ExprKind::kName && std::find(std::begin(kNames), std::end(kNames),
                                                   name_of(as<NameExpr>(expr).name)) != std::end(kNames);
}

bool are_type_functions(const Expr& expr) {
  if (expr.kind == ExprKind::kTuple) {
    const auto& elements = as<TupleExpr>(expr).elements;
    return std::any_of(elements.begin(), elements.end(), [](const auto& e) { return is_type_function(*e); });
  }
  if (expr.kind == ExprKind::kArray) {
    const auto& elements = as<ArrayExpr>(expr).elements;
    return std::any_of(elements.begin(), elements.end(),
                       [](const auto& e) { return !e.spread && is_type_function(*e.value); });
  }
  return is_type_function(expr);
}

}  // namespace

/// A built-in type is no value that `type(x)` equals: the test becomes isinstance(x, T). That of another type
/// compares the classes, also with `is`.
ExprPtr Parser::type_test(std::unique_ptr<BinaryExpr> expr) {
  const bool negated =
      expr->op == BinaryOp::kNotEqual || expr->op == BinaryOp::kIsNot || expr->op == BinaryOp::kNotIn;
  if (!are_type_functions(*expr->right)) {
    if (expr->op == BinaryOp::kIs || expr->op == BinaryOp::kIsNot) {
      expr->op = negated ? BinaryOp::kNotEqual : BinaryOp::kEqual;
    }
    return expr;
  }
  auto& type_call = static_cast<CallExpr&>(*expr->left);
  ExprPtr test = call_of("__is_type__", std::move(type_call.args[0].value));
  ExprPtr types = std::move(expr->right);
  if (types->kind == ExprKind::kArray) {
    auto tuple = make<TupleExpr>(types->span);
    for (Element& element : static_cast<ArrayExpr&>(*types).elements) {
      tuple->elements.push_back(std::move(element.value));
    }
    types = std::move(tuple);
  }
  static_cast<CallExpr&>(*test).args.emplace_back().value = std::move(types);
  if (!negated) {
    return test;
  }
  auto inverse = make<UnaryExpr>(expr->span);
  inverse->op = UnaryOp::kNot;
  inverse->operand = std::move(test);
  return inverse;
}

namespace {

// Whether `e.args` shows more than the text of the exception: several arguments, or one that is no text.
bool keeps_arguments(const std::vector<Arg>& args) {
  const auto is_text = [](const Expr& expr) {
    return expr.kind == ExprKind::kText || expr.kind == ExprKind::kInterpolation;
  };
  return std::all_of(args.begin(), args.end(),
                     [](const Arg& arg) { return arg.kind == ArgKind::kPositional; }) &&
         !args.empty() &&
         (args.size() > 1 || !(is_text(*args[0].value) || args[0].value->kind == ExprKind::kBinary ||
                               args[0].value->kind == ExprKind::kCall));
}

}  // namespace

/// `raise ValueError("…")` is a panic with the text `ValueError: …`. An exception with several arguments,
/// and any other value, is raised as it is.
StmtPtr Parser::raise_statement() {
  const SourceSpan span = here();
  advance();
  ExprPtr raised = expression();
  std::vector<Arg> args;
  ExprPtr cause;
  if (accept_word("from")) {
    cause = expression();
  }
  const Expr* name = raised.get();
  if (raised->kind == ExprKind::kCall) {
    name = as<CallExpr>(*raised).callee.get();
  }
  const bool is_named = name->kind == ExprKind::kName && is_exception_name(name_of(as<NameExpr>(*name).name));
  const bool is_key_error =  // its text is that of repr()
      is_named && name_of(as<NameExpr>(*name).name) == "KeyError";
  const bool keeps_value = !is_named || cause ||
                           (raised->kind == ExprKind::kCall &&
                            (is_key_error || keeps_arguments(static_cast<CallExpr&>(*raised).args)));
  if (keeps_value) {
    return raise_value(span, std::move(raised), std::move(cause));
  }
  exceptions_.pop_back();
  auto message = make<InterpolationExpr>(span);
  message->parts.push_back({name_of(as<NameExpr>(*name).name), nullptr, ""});
  if (raised->kind == ExprKind::kCall) {
    for (Arg& arg : static_cast<CallExpr&>(*raised).args) {
      if (arg.kind != ArgKind::kPositional) {
        fail_at(span, "raise: an exception takes only positional arguments here", "call panic(…)");
      }
      message->parts.back().text += ": ";
      message->parts.back().value = std::move(arg.value);
      message->parts.emplace_back();
    }
  }
  return statement_of(span, call_of("panic", std::move(message)));
}

/// `raise … from e`: `e` is the __cause__ of the exception.
StmtPtr Parser::raise_value(const SourceSpan& span, ExprPtr raised, ExprPtr cause) {
  ExprPtr call = call_of("__raise__", std::move(raised));
  if (cause) {
    static_cast<CallExpr&>(*call).args.emplace_back().value = std::move(cause);
  }
  return statement_of(span, std::move(call));
}

/// `del a, b` sets the variables to nil, which frees their values. `del xs[i]` removes an element.
StmtPtr Parser::del_statement() {
  const SourceSpan span = here();
  advance();
  std::vector<ExprPtr> targets;
  do {
    targets.push_back(expression());
  } while (accept(Tok::kComma));
  if (targets.size() == 1 && targets[0]->kind == ExprKind::kTuple) {
    auto elements = std::move(static_cast<TupleExpr&>(*targets[0]).elements);
    targets = std::move(elements);
  }
  const bool are_names = std::all_of(targets.begin(), targets.end(),
                                     [](const auto& target) { return target->kind == ExprKind::kName; });
  if (are_names) {
    auto assignment = make<AssignStmt>(span);
    auto nils = make<TupleExpr>(span);
    for (size_t i = 0; i < targets.size(); ++i) {
      nils->elements.push_back(make<NilExpr>(span));
    }
    assignment->value = targets.size() == 1 ? std::move(nils->elements[0]) : std::move(nils);
    assignment->targets = std::move(targets);
    return assignment;
  }
  if (targets.size() != 1 || targets[0]->kind != ExprKind::kIndex) {
    fail_at(span, "del: the target must be variables or one element",
            "assign nil to a field; write one statement for each element");
  }
  auto& index = static_cast<IndexExpr&>(*targets[0]);
  if (index.subscripts.size() != 1) {
    fail_at(span, "del: one index or slice must be given", "write one statement for each dimension");
  }
  auto method = make<FieldExpr>(span);
  method->object = std::move(index.object);
  method->name = intern("__delitem__");
  auto call = make<CallExpr>(span);
  call->callee = std::move(method);
  call->args.emplace_back().value = std::move(index.subscripts[0]);
  return statement_of(span, std::move(call));
}

/// `*x`, which is also how a pointer is read.
bool Parser::has_star(const Expr& expr) {
  return expr.kind == ExprKind::kUnary && as<UnaryExpr>(expr).op == UnaryOp::kDereference;
}

/// `(*xs, y)` is tuple([*xs, y]).
ExprPtr Parser::with_spreads(std::unique_ptr<TupleExpr> tuple) {
  if (std::none_of(tuple->elements.begin(), tuple->elements.end(),
                   [](const auto& element) { return has_star(*element); })) {
    return tuple;
  }
  auto array = make<ArrayExpr>(tuple->span);
  for (ExprPtr& element : tuple->elements) {
    Element& one = array->elements.emplace_back();
    one.spread = has_star(*element);
    one.value = one.spread ? std::move(static_cast<UnaryExpr&>(*element).operand) : std::move(element);
  }
  return call_of("tuple", std::move(array));
}

// ---- "…".format(…) ------------------------------------------------------------------------------------

/// Whether the literals at the current token, which are one text, are the receiver of `.format(`.
bool Parser::starts_format() const {
  size_t last = 0;
  while (ahead(last + 1).kind == Tok::kText && !(ahead(last + 1).line_start && context_.layout)) {
    ++last;
  }
  return ahead(last + 1).kind == Tok::kDot && !ahead(last + 1).line_start &&
         spelling(ahead(last + 2)) == "format" && ahead(last + 3).kind == Tok::kLeftParen &&
         !ahead(last + 3).space_before;
}

}  // namespace spl
