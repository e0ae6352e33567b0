// A change of an array or dict reaches the changed place only, where in Python every place that holds the
// list or dict shows it. In a program with PyTorch, an instruction before the change checks whether another
// place holds the collection; the host runs it in vm/change_checks.cpp. In other programs it does so for a
// parameter and the variable of a loop that nothing reads after the change.
#include <algorithm>

#include "host/compiler/compiler.h"

namespace spl {

std::string place_spelling(const Expr& place) {
  switch (place.kind) {
    case ExprKind::kName:
      return name_of(as<NameExpr>(place).name);
    case ExprKind::kSelf:
      return "self";
    case ExprKind::kField:
      return place_spelling(*as<FieldExpr>(place).object) + "." + name_of(as<FieldExpr>(place).name);
    case ExprKind::kTupleField:
      return place_spelling(*as<TupleFieldExpr>(place).object) + "." +
             std::to_string(as<TupleFieldExpr>(place).index);
    case ExprKind::kIndex:
      return place_spelling(*as<IndexExpr>(place).object) + "[…]";
    default:
      return "(…)";
  }
}

namespace {

// What the root of the expression, and each part up to the whole, are called.
std::vector<std::string> spellings_of(const Expr& place) {
  std::vector<std::string> spellings = {place_spelling(place)};
  for (const Expr* at = &place;
       at->kind == ExprKind::kField || at->kind == ExprKind::kTupleField || at->kind == ExprKind::kIndex;) {
    at = &object_of(*at);
    spellings.push_back(place_spelling(*at));
  }
  std::reverse(spellings.begin(), spellings.end());
  return spellings;
}

// Whether the elements of the result are those of the arguments or of the object.
bool is_view(const CallExpr& call) {
  static const std::unordered_set<std::string> views = {"enumerate", "zip", "reversed", "items", "values"};
  const Expr& callee = *call.callee;
  const Symbol name = callee.kind == ExprKind::kName    ? as<NameExpr>(callee).name
                      : callee.kind == ExprKind::kField ? as<FieldExpr>(callee).name
                                                        : kNoSymbol;
  return name != kNoSymbol && views.contains(name_of(name));
}

Diagnostic shared_default(const FieldDecl& field) {
  const std::string& name = name_of(field.name);
  return {field.span, "each object has its own '" + name + "', where objects of Python share one",
          "declare 'static var " + name + "' to share it, or assign self." + name +
              " in __init__ for one of each object"};
}

}  // namespace

// Before a change of the collection at the end of the path, whose subscripts are in their registers.
void FunctionCompiler::check_change(const Expr& collection, LvaluePath path, const SourceSpan& span) {
  const Expr& root = root_of(collection);
  const bool is_name = root.kind == ExprKind::kName;
  const bool is_stored_back =
      &root == &collection && is_name && uses_.stored_back.contains(as<NameExpr>(root).name);
  const bool is_unread = unread_changes_.contains(&root);
  if (!(is_port() || is_unread) || path.root == LvaluePath::Root::kValue || is_stored_back) {
    return;
  }
  auto check = std::make_unique<ChangeCheck>();
  check->span = span;
  check->is_unread = is_unread;
  const auto& parameters = proto_->parameters;
  check->is_parameter =
      is_name && std::find(parameters.begin(), parameters.end(), as<NameExpr>(root).name) != parameters.end();
  std::vector<std::string> spellings = spellings_of(collection);
  // The path of a bare field has steps that the expression does not show.
  spellings.insert(spellings.begin(), path.steps.size() + 1 - spellings.size(), spellings.front());
  for (std::string& spelling : spellings) {
    const auto visits = std::count(visited_.begin(), visited_.end(), spelling);
    check->places.push_back({std::move(spelling), static_cast<uint32_t>(visits)});
  }
  emit_change_check(std::move(check), std::move(path));
}

// Before `place += value`, which changes an array or dict: its value `current` is the second holder.
void FunctionCompiler::check_replaced(const Expr& place, Register current) {
  if (!is_port()) {
    return;
  }
  auto check = std::make_unique<ChangeCheck>();
  check->span = place.span;
  const std::string spelling = place_spelling(place);
  const auto visits = std::count(visited_.begin(), visited_.end(), spelling);
  check->places.push_back({spelling, static_cast<uint32_t>(visits) + 1});
  LvaluePath path;
  path.operand = current;
  emit_change_check(std::move(check), std::move(path));
}

void FunctionCompiler::emit_change_check(std::unique_ptr<ChangeCheck> check, LvaluePath path) {
  const bool is_register =
      !check->is_dropped && path.root == LvaluePath::Root::kRegister && path.steps.empty();
  const uint32_t root = is_register ? path.operand : 0;
  check->path = proto_->paths.size();
  proto_->paths.push_back(std::move(path));
  proto_->changes.push_back(std::move(check));
  const auto number = static_cast<int32_t>(proto_->changes.size() - 1);
  emit_wide(Op::kCheckChange, root, is_register ? ~number : number);
}

namespace {

// The index of the parameter that the function changes and returns by its last expression, as
// `fn add(xs): xs.push(1)` does; -1 if there is none.
int changed_result(const FunctionDecl& function) {
  if (!function.body || function.body->statements.empty() ||
      function.body->statements.back()->kind != StmtKind::kExpr) {
    return -1;
  }
  const Expr& result = *as<ExprStmt>(*function.body->statements.back()).value;
  if (result.kind != ExprKind::kCall || as<CallExpr>(result).callee->kind != ExprKind::kField) {
    return -1;
  }
  const auto& callee = as<FieldExpr>(*as<CallExpr>(result).callee);
  if (callee.nil_safe || !returns_receiver(callee.name) || callee.object->kind != ExprKind::kName) {
    return -1;
  }
  const Symbol name = as<NameExpr>(*callee.object).name;
  const auto param = std::find_if(function.params.begin(), function.params.end(), [&](const Param& each) {
    return each.name == name && each.kind == ParamKind::kNormal;
  });
  return param == function.params.end() ? -1 : static_cast<int>(param - function.params.begin());
}

}  // namespace

// Before the statement `add(xs)`, whose function changes a copy of `xs` and returns it.
void FunctionCompiler::check_dropped_result(const Expr& statement) {
  if (is_port() || module_.is_library || statement.kind != ExprKind::kCall ||
      as<CallExpr>(statement).callee->kind != ExprKind::kName) {
    return;
  }
  const auto& call = as<CallExpr>(statement);
  const Symbol name = as<NameExpr>(*call.callee).name;
  const auto found = module_.declarations.find(name);
  if (found == module_.declarations.end() || found->second->kind != StmtKind::kFunction ||
      find_local(name) != nullptr || is_decorated(module_, as<FunctionDecl>(*found->second).info)) {
    return;
  }
  const int index = changed_result(as<FunctionDecl>(*found->second));
  if (index < 0 || static_cast<size_t>(index) >= call.args.size() ||
      call.args[static_cast<size_t>(index)].kind != ArgKind::kPositional ||
      call.args[static_cast<size_t>(index)].value->kind != ExprKind::kName) {
    return;
  }
  const auto& argument = as<NameExpr>(*call.args[static_cast<size_t>(index)].value);
  const Name variable = resolve(argument.name);
  LvaluePath path;
  path.operand = variable.operand;
  path.root = variable.form == Name::Form::kGlobal ? LvaluePath::Root::kGlobal : LvaluePath::Root::kRegister;
  if (variable.form != Name::Form::kLocal &&
      (variable.form != Name::Form::kGlobal || !module_.knows(argument.name))) {
    return;
  }
  auto check = std::make_unique<ChangeCheck>();
  check->span = argument.span;
  check->is_dropped = true;
  check->places.push_back({name_of(argument.name), 0});
  check->places.push_back({name_of(name), 0});
  emit_change_check(std::move(check), std::move(path));
}

// `items = []` in a class, and `self.items.append(x)`: Python's objects share one list.
void check_shared_defaults(LoadedModule& module, const RecordDecl& decl) {
  if (!module.uses_torch || module.is_library) {
    return;
  }
  VariableUses uses;
  for (const auto& method : decl.methods) {
    if (method->body) {
      VariableUses own = uses_of_variables(method->params, method->body->statements);
      uses.changed_fields.merge(own.changed_fields);
      uses.assigned_fields.merge(own.assigned_fields);
    }
  }
  for (const FieldDecl& field : decl.fields) {
    const bool is_collection =
        !field.type && field.default_value &&
        (field.default_value->kind == ExprKind::kArray || field.default_value->kind == ExprKind::kDict);
    if (is_collection && uses.changed_fields.contains(field.name) &&
        !uses.assigned_fields.contains(field.name)) {
      warn_once(module, shared_default(field));
    }
  }
}

// What a loop holds meanwhile: the collections that it visits, as in `xs`, `enumerate(xs)` and `zip(xs, ys)`,
// and the elements of a collection without a place, which only its variable shows.
void FunctionCompiler::note_visits(const Expr& iterable, const Pattern& variable) {
  if (!is_port()) {
    return;
  }
  if (iterable.kind == ExprKind::kCall) {
    const auto& call = as<CallExpr>(iterable);
    if (call.callee->kind == ExprKind::kField) {
      note_visits(*as<FieldExpr>(*call.callee).object, variable);
    }
    for (const Arg& arg : call.args) {
      note_visits(*arg.value, variable);
    }
    if (is_view(call)) {
      return;
    }
  }
  const bool is_place = is_lvalue(iterable);
  if (is_place) {
    visited_.push_back(place_spelling(iterable));
  } else if (variable.kind == PatternKind::kBinding) {
    visited_.push_back(name_of(as<BindingPattern>(variable).name));
  }
}

}  // namespace spl
