// Warnings about names that are probably wrong, which are printed before the program runs.
#include <algorithm>

#include "host/compiler/compiler.h"
#include "host/values/spelling_suggester.h"

namespace spl {

namespace {

bool names_global(LoadedModule& module, Symbol name) {
  const std::vector<Symbol>& globals = module.tree().module.globals;
  return std::find(globals.begin(), globals.end(), name) != globals.end();
}

}  // namespace

// The declaration of the outermost function that encloses this code; null in the module's own statements.
const void* FunctionCompiler::enclosing_declaration() const {
  const void* declaration = nullptr;
  for (const FunctionCompiler* at = this; at != nullptr; at = at->parent_) {
    declaration = at->declaration_ != nullptr ? at->declaration_ : declaration;
  }
  return declaration;
}

// A module's own statements run at once and report the name themselves. A type of a function is compiled
// again with the function's variables. The library's names are tested, and programs should not wait for their
// check.
bool FunctionCompiler::checks_names() const {
  return !is_module_ && !module_.compiles_local_type && !module_.is_library;
}

void FunctionCompiler::note_read(Symbol name, const SourceSpan& span) {
  if (!checks_names()) {
    return;
  }
  const void* user = enclosing_declaration();
  LoadedModule::NameUse& use = module_.uses_of_names[name];
  use.users.insert(user);
  if (const auto assigner = use.assigners.find(user); assigner != use.assigners.end()) {
    assigner->second.reads_after = true;
  }
  if (use.first_read.line == 0) {
    use.first_read = span;
  }
}

void FunctionCompiler::note_assignment(Symbol name, const SourceSpan& span) {
  const void* user = enclosing_declaration();
  if (user == nullptr || !checks_names()) {
    return;
  }
  LoadedModule::NameUse& use = module_.uses_of_names[name];
  if (use.users.insert(user).second) {
    use.assigners[user].place = span;
  }
}

// Whether an assignment makes a variable of the function although the module has one of this name. In a
// program with PyTorch it does as in Python, if assignments alone made both and no function reads the name
// before it assigns it.
bool FunctionCompiler::hides_variable(Symbol name) const {
  if (!is_port() || module_.declared.contains(name) || module_.assigned_later.contains(name) ||
      names_global(module_, name)) {
    return false;
  }
  return assigns_before_reading(name);
}

// Whether an assignment makes a variable of the method although the class declares a field of this name. In a
// program with PyTorch a class with __init__ comes from Python, where the field is self.name.
bool FunctionCompiler::hides_field(Symbol name) const {
  const AssignedFields* fields = assigned_fields();
  return is_port() && fields != nullptr && fields->has_python_initializer && assigns_before_reading(name);
}

bool FunctionCompiler::assigns_before_reading(Symbol name) const {
  const FunctionCompiler* function = this;
  while (function->declaration_ == nullptr && function->parent_ != nullptr) {
    function = function->parent_;
  }
  return function->uses_.assigned_first.contains(name);
}

// The name turned out to be a variable of this function, which is compiled again.
void FunctionCompiler::forget_uses(Symbol name) {
  const auto use = module_.uses_of_names.find(name);
  if (use == module_.uses_of_names.end()) {
    return;
  }
  use->second.users.erase(enclosing_declaration());
  use->second.assigners.erase(enclosing_declaration());
  if (use->second.users.empty()) {
    module_.uses_of_names.erase(use);
  }
}

// The names of a `use` inside a function are names of the module once the function has run.
void FunctionCompiler::note_late_import(const UseDecl& use) {
  module_.imports_later = module_.imports_later || use.everything;
  const auto bind = [&](Symbol name) { module_.variables.insert(name); };
  if (!use.path.empty()) {
    bind(use.alias != kNoSymbol ? use.alias : use.path.back());
  }
  for (const ImportName& name : use.names) {
    bind(name.alias != kNoSymbol ? name.alias : name.name);
  }
}

namespace {

std::string hint_for(LoadedModule& module, Symbol name) {
  if (std::string hint = module.hidden_name_hint(name); !hint.empty()) {
    return hint;
  }
  SpellingSuggester nearest(name_of(name));
  if (const auto local = module.near_locals.find(name); local != module.near_locals.end()) {
    nearest.offer(local->second);
  }
  for (const auto& [known, slot] : module.names) {
    if (known != name && module.knows(known)) {
      nearest.offer(name_of(known));
    }
  }
  for (const auto& [known, import] : module.imports) {
    nearest.offer(name_of(known));
  }
  for (const auto& [known, value] : builtins()) {
    nearest.offer(name_of(known));
  }
  return nearest.hint();
}

// Whether every function that uses the name assigns it before it reads it: no function needs the value that
// another one assigned.
bool is_private_to_functions(const LoadedModule::NameUse& use) {
  return !use.assigners.empty() && use.users.size() == use.assigners.size() &&
         std::all_of(use.assigners.begin(), use.assigners.end(),
                     [](const auto& assigner) { return assigner.second.reads_after; });
}

bool has_unfinished_import(const LoadedModule& module) {
  return std::any_of(module.wildcards.begin(), module.wildcards.end(),
                     [](const LoadedModule* other) { return other->state != LoadedModule::State::kReady; });
}

}  // namespace

void warn_about_names(LoadedModule& module) {
  const bool may_import_any = module.imports_later || has_unfinished_import(module);
  for (const auto& [name, use] : module.uses_of_names) {
    if (use.first_read.line != 0 && !may_import_any && !module.knows(name)) {
      module.warnings.push_back(
          {use.first_read, "'" + name_of(name) + "' is not defined", hint_for(module, name)});
    }
    if (is_private_to_functions(use) && module.is_program && !module.exports.contains(name) &&
        !names_global(module, name)) {
      for (const auto& [function, assigner] : use.assigners) {
        module.warnings.push_back({assigner.place,
                                   "assignment changes '" + name_of(name) + "', a variable of the module",
                                   "declare a variable of the function with 'var'"});
      }
    }
  }
  module.uses_of_names.clear();
}

// ---- The variables of loops

// A loop has variables of its own. An author who knows Python expects the outer variable to hold the last
// value.
void FunctionCompiler::note_ended_loop(const ForStmt& stmt) {
  if (!module_.is_program) {
    return;
  }
  for (const Pattern* pattern : {stmt.pattern.get(), stmt.second.get()}) {
    if (pattern == nullptr) {
      continue;
    }
    note_ended_pattern(*pattern);
    if (pattern->kind != PatternKind::kBinding) {
      continue;
    }
    const Symbol name = as<BindingPattern>(*pattern).name;
    if (is_port() && !is_declared_outside(name, pattern)) {
      continue;
    }
    const Local* local = find_local(name);
    if (local != nullptr || (is_module_ && module_.binds(name))) {
      hidden_by_loops_[name] = {local != nullptr ? local->key : nullptr, stmt.span.line};
    }
  }
}

void FunctionCompiler::check_ended_loop(Symbol name, const SourceSpan& span) {
  const auto hidden = hidden_by_loops_.find(name);
  if (hidden == hidden_by_loops_.end()) {
    return;
  }
  const Local* local = find_local(name);
  if ((local != nullptr ? local->key : nullptr) != hidden->second.key) {
    return;
  }
  const std::string line = std::to_string(hidden->second.loop_line);
  warn_once({span,
             "'" + name_of(name) + "' is not the variable of the loop on line " + line + ", which has ended",
             "use another name for the loop's variable; assign it in the loop to keep its last value"});
  hidden_by_loops_.erase(hidden);
}

// ---- Changes of copies

// `d.setdefault(k, []).append(v)` changes a copy of the value, because collections are values.
void FunctionCompiler::check_change_of_default(const FieldExpr& callee) {
  static const Symbol setdefault = intern("setdefault");
  const auto& inner = as<FieldExpr>(*as<CallExpr>(*callee.object).callee);
  if (inner.name == setdefault && module_.is_program) {
    warn_once({callee.span, name_of(callee.name) + "() changes a copy of the value that setdefault() returns",
               "write d.setdefault(key, value) in a line of its own, and then d[key]." +
                   name_of(callee.name) + "(…)"});
  }
}

// ---- The results of searches -----------------------------------------------------------------------------

// Whether the expression is the index of a search, which is nil without a match; -1 in other languages.
bool FunctionCompiler::is_search(const Expr& expr) const {
  if (expr.kind == ExprKind::kName) {
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
      if (local->name == as<NameExpr>(expr).name) {
        return local->is_search;
      }
    }
    return module_.searches.contains(as<NameExpr>(expr).name);
  }
  if (expr.kind != ExprKind::kCall || as<CallExpr>(expr).callee->kind != ExprKind::kField ||
      as<CallExpr>(expr).args.empty()) {
    return false;
  }
  static const std::unordered_set<std::string> searches = {"find", "rfind", "index_of", "last_index_of",
                                                           "find_index"};
  return searches.contains(name_of(as<FieldExpr>(*as<CallExpr>(expr).callee).name));
}

void warn_once(LoadedModule& module, Diagnostic warning) {
  const auto known = [&](const Diagnostic& other) { return other.span.start == warning.span.start; };
  if (std::none_of(module.warnings.begin(), module.warnings.end(), known)) {
    module.warnings.push_back(std::move(warning));
  }
}

namespace {

bool is_minus_one(const Expr& expr) {
  if (expr.kind == ExprKind::kInt) {
    return as<IntExpr>(expr).value == -1;
  }
  return expr.kind == ExprKind::kUnary && as<UnaryExpr>(expr).op == UnaryOp::kNegate &&
         as<UnaryExpr>(expr).operand->kind == ExprKind::kInt &&
         as<IntExpr>(*as<UnaryExpr>(expr).operand).value == 1;
}

}  // namespace

void FunctionCompiler::check_search_result(const BinaryExpr& expr) {
  if ((expr.op != BinaryOp::kEqual && expr.op != BinaryOp::kNotEqual) || is_port()) {
    return;
  }
  const bool is_wrong = (is_search(*expr.left) && is_minus_one(*expr.right)) ||
                        (is_minus_one(*expr.left) && is_search(*expr.right));
  if (is_wrong) {
    warn_once(
        {expr.span, "a search in a text or array returns nil without a match, never -1", "compare with nil"});
  }
}

// An operand of a comparison. In a program with PyTorch a search without a match is -1 next to an integer, as
// in Python: `text.find("x") != -1`, `text.find("x") >= 0`.
Register FunctionCompiler::compared_operand(const Expr& expr, const Expr& other) {
  const bool is_number = other.kind == ExprKind::kInt || is_minus_one(other);
  if (!is_number || !is_port() || !is_search(expr)) {
    return operand(expr);
  }
  const Register result = temporary_of(expr);
  emit(Op::kCoalesce, result, result);
  const size_t found = here();
  emit_extra(0);
  load_constant(result, Value::integer(-1));
  patch(found);
  return result;
}

// In a class with __init__, an author who knows Python means a variable of the method.
void FunctionCompiler::check_bare_field(const NameExpr& target, Name name) {
  const AssignedFields* fields = assigned_fields();
  const bool is_field = name.form == Name::Form::kField || name.form == Name::Form::kStatic;
  if (!is_field || !module_.is_program || fields == nullptr || !fields->has_python_initializer) {
    return;
  }
  const std::string& spelling = name_of(target.name);
  warn_once(
      {target.span, "assignment changes the field '" + spelling + "'",
       "write 'self." + spelling + " = …', or 'var " + spelling + " = …' for a variable of the method"});
}

// `5 / 3` is 1. A program that uses PyTorch usually means the fraction, as in Python.
void FunctionCompiler::check_literal_division(const BinaryExpr& expr) {
  if (!is_port() || truncations_.contains(&expr) || expr.op != BinaryOp::kDivide ||
      expr.left->kind != ExprKind::kInt || expr.right->kind != ExprKind::kInt) {
    return;
  }
  const int64_t left = as<IntExpr>(*expr.left).value, right = as<IntExpr>(*expr.right).value;
  if (right > 0 && left % right != 0) {
    const std::string quotient = std::to_string(left) + " / " + std::to_string(right);
    warn_once({expr.span, quotient + " is " + std::to_string(left / right) + ": integers truncate",
               "write " + std::to_string(left) + ".0 / " + std::to_string(right) + " for the fraction"});
  }
}

// `-x ** 2` is (-x) ** 2, and -(x ** 2) in Python.
void FunctionCompiler::check_negative_base(const BinaryExpr& expr) {
  const Expr& base = *expr.left;
  const bool is_negation = base.kind == ExprKind::kUnary && as<UnaryExpr>(base).op == UnaryOp::kNegate;
  const bool is_negative = (base.kind == ExprKind::kInt && as<IntExpr>(base).value < 0) ||
                           (base.kind == ExprKind::kFloat && as<FloatExpr>(base).value < 0);
  const bool starts_with_sign = base.span.start < module_.unit->source.text.size() &&
                                base.span.file == module_.unit->source.id &&
                                module_.unit->source.text[base.span.start] == '-';
  if (!is_port() || expr.op != BinaryOp::kPower || !(is_negation || is_negative) || !starts_with_sign) {
    return;
  }
  const uint32_t before = base.span.start;
  if (before > 0 && module_.unit->source.text[before - 1] == '(') {
    return;  // (-x) ** 2
  }
  warn_once({expr.span, "the minus binds more tightly than '**': this is (-x) ** n",
             "write -(x ** n) for what Python computes, or (-x) ** n"});
}

// A default value is made in each call; Python makes one, which keeps the changes of earlier calls.
void FunctionCompiler::check_kept_defaults(const std::vector<Param>& params) {
  for (const Param& param : params) {
    const bool is_collection = param.default_value && (param.default_value->kind == ExprKind::kArray ||
                                                       param.default_value->kind == ExprKind::kDict);
    if (is_collection && uses_.changed.contains(param.name)) {
      warn_once({param.span,
                 "each call has its own default of '" + name_of(param.name) + "', without earlier changes",
                 "keep it in a variable of the module, or in a field"});
    }
  }
}

// `print (0.5).sin()` and `print -1` apply to print, not to what it prints.
void FunctionCompiler::check_print_operand(const Expr& operand, const SourceSpan& span) {
  static const Symbol print = intern("print");
  const bool is_call = operand.kind == ExprKind::kCall;
  const Expr& callee = is_call ? *as<CallExpr>(operand).callee : operand;
  const bool is_print = callee.kind == ExprKind::kName && as<NameExpr>(callee).name == print;
  if (!is_print || find_local(print) != nullptr || module_.top_names.contains(print) || module_.is_library) {
    return;
  }
  warn_once(
      {span,
       is_call ? "this applies to the result of print(…), which is nil" : "this applies to 'print' itself",
       "write print(…) around the whole expression"});
}

}  // namespace spl
