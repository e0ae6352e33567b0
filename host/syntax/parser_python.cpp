// Statements and forms of Python that programs keep when they are ported: global, nonlocal, raise, del, and
// "…".format(…).
#include <algorithm>
#include <charconv>

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

namespace {

// The classes of Python's exceptions that programs raise.
bool is_python_exception(std::string_view name) {
  static constexpr std::string_view kNames[] = {"Exception",
                                                "ValueError",
                                                "TypeError",
                                                "RuntimeError",
                                                "KeyError",
                                                "IndexError",
                                                "LookupError",
                                                "AttributeError",
                                                "AssertionError",
                                                "NotImplementedError",
                                                "ArithmeticError",
                                                "ZeroDivisionError",
                                                "OverflowError",
                                                "ImportError",
                                                "OSError",
                                                "FileNotFoundError",
                                                "ModuleNotFoundError",
                                                "PermissionError",
                                                "TimeoutError",
                                                "StopIteration",
                                                "EnvironmentError",
                                                "FileExistsError",
                                                "IOError",
                                                "FloatingPointError",
                                                "EOFError"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

/// `raise ValueError("…")` is a panic with the text `ValueError: …`.
StmtPtr Parser::raise_statement() {
  const SourceSpan span = here();
  advance();
  ExprPtr raised = expression();
  std::vector<Arg> args;
  const Expr* name = raised.get();
  if (raised->kind == ExprKind::kCall) {
    name = as<CallExpr>(*raised).callee.get();
  }
  if (name->kind != ExprKind::kName || !is_python_exception(name_of(as<NameExpr>(*name).name))) {
    fail_at(span, "exceptions are not supported, except for Python's classes such as ValueError",
            "return Err(…) or call panic(…)");
  }
  if (is_word("from")) {
    fail("'raise … from' is not supported", "add the cause to the message");
  }
  auto message = make<InterpolationExpr>(span);
  message->parts.push_back({name_of(as<NameExpr>(*name).name), nullptr, ""});
  if (raised->kind == ExprKind::kCall) {
    bool is_first = true;
    for (Arg& arg : static_cast<CallExpr&>(*raised).args) {
      if (arg.kind != ArgKind::kPositional) {
        fail_at(span, "raise: an exception takes only positional arguments here", "call panic(…)");
      }
      message->parts.back().text += std::exchange(is_first, false) ? ": " : ", ";
      message->parts.back().value = std::move(arg.value);
      message->parts.emplace_back();
    }
  }
  return statement_of(span, call_of("panic", std::move(message)));
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

/// Whether the literal at the current token is the receiver of `.format(`.
bool Parser::starts_format() const {
  return ahead().kind == Tok::kDot && !ahead().line_start && spelling(ahead(2)) == "format" &&
         ahead(3).kind == Tok::kLeftParen && !ahead(3).space_before;
}

namespace {

struct FormatField {
  std::string name;    // empty: the next argument
  std::string format;  // after the colon
  std::string text;    // literal text before the field
  bool is_repr = false;
};

// Splits a format string at its fields; the last "field" has only text. Returns why it cannot.
std::string split_format(std::string_view text, std::vector<FormatField>& fields) {
  FormatField field;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{' && text[i] != '}') {
      field.text += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == text[i]) {
      field.text += text[i++];
      continue;
    }
    const size_t close = text[i] == '{' ? text.find('}', i) : std::string_view::npos;
    if (close == std::string_view::npos) {
      return "a single brace in the text";
    }
    std::string_view inside = text.substr(i + 1, close - i - 1);
    if (inside.find('{') != std::string_view::npos) {
      return "a field within a field";
    }
    if (const size_t colon = inside.find(':'); colon != std::string_view::npos) {
      field.format = inside.substr(colon + 1);
      inside = inside.substr(0, colon);
    }
    if (inside.ends_with("!r") || inside.ends_with("!s")) {
      field.is_repr = inside.ends_with("!r");
      inside.remove_suffix(2);
    }
    field.name = inside;
    fields.push_back(std::exchange(field, {}));
    i = close;
  }
  fields.push_back(std::move(field));
  return "";
}

// The place of the argument for the field, or the count.
size_t argument_of(const FormatField& field, const std::vector<Arg>& args, size_t& next) {
  if (field.name.empty()) {
    return next < args.size() && args[next].kind == ArgKind::kPositional ? next++ : args.size();
  }
  size_t number = 0;
  const auto* end = field.name.data() + field.name.size();
  if (std::from_chars(field.name.data(), end, number).ptr == end) {
    return number < args.size() && args[number].kind == ArgKind::kPositional ? number : args.size();
  }
  const auto named = std::find_if(args.begin(), args.end(), [&](const Arg& arg) {
    return arg.kind == ArgKind::kNamed && name_of(arg.name) == field.name;
  });
  return static_cast<size_t>(named - args.begin());
}

}  // namespace

/// `"{:.2f} {}".format(a, b)` is the interpolation with these values. Each field needs an argument of its
/// own.
ExprPtr Parser::formatted(const std::string& text) {
  const SourceSpan span = here();
  const auto reject = [&](const std::string& reason) {
    fail_at(span, "format(): " + reason + " is not supported",
            "write the values in the braces: \"{loss:.4f}\"");
  };
  std::vector<FormatField> fields;
  if (const std::string reason = split_format(text, fields); !reason.empty()) {
    reject(reason);
  }
  advance();
  advance();
  advance();
  std::vector<Arg> args = arguments(Tok::kRightParen);
  auto node = make<InterpolationExpr>(span);
  size_t next = 0;
  for (FormatField& field : fields) {
    InterpolationPart part{std::move(field.text), nullptr, std::move(field.format)};
    if (&field != &fields.back()) {
      const size_t at = argument_of(field, args, next);
      if (at == args.size() || args[at].value == nullptr) {
        reject(at == args.size() ? "a field '{" + field.name + "}' without an argument"
                                 : "a second use of an argument");
      }
      part.value = std::move(args[at].value);
      if (field.is_repr) {
        part.value = call_of("repr", std::move(part.value));
      }
    }
    node->parts.push_back(std::move(part));
  }
  if (std::any_of(args.begin(), args.end(), [](const Arg& arg) { return arg.value != nullptr; })) {
    reject("an argument without a field");
  }
  return node;
}

}  // namespace spl
