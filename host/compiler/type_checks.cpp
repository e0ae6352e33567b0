// Warnings about literals that are not of a declared type, which are printed before the program runs.
#include <algorithm>
#include <string_view>

#include "host/compiler/compiler.h"
#include "host/compiler/type_names.h"
#include "host/values/sized.h"

namespace spl {

namespace {

// The type of a literal, a lambda or a comprehension; empty for other expressions and for nil.
std::string_view literal_type(const Expr& value) {
  switch (value.kind) {
    case ExprKind::kInt:
      return as<IntExpr>(value).suffix == kNoSymbol ? "i64" : "";
    case ExprKind::kFloat:
      return "f64";
    case ExprKind::kBool:
      return "bool";
    case ExprKind::kText:
    case ExprKind::kInterpolation:
      return "text";
    case ExprKind::kArray:
    case ExprKind::kArrayRepeat:
      return "array";
    case ExprKind::kDict:
      return "dict";
    case ExprKind::kTuple:
      return "tuple";
    case ExprKind::kLambda:
      return "function";
    case ExprKind::kComprehension:
      return as<ComprehensionExpr>(value).key ? "dict" : "array";
    case ExprKind::kUnary:
      return as<UnaryExpr>(value).op == UnaryOp::kNegate ? literal_type(*as<UnaryExpr>(value).operand) : "";
    default:
      return "";
  }
}

bool accepts(std::string_view declared, std::string_view literal) {
  if (is_integer_type(declared)) {
    return literal == "i64";
  }
  if (is_float_type(declared)) {
    return literal == "f64" || literal == "i64";
  }
  if (declared == "text" || declared == "bool") {
    return literal == declared;
  }
  if (declared == "array") {
    return literal == "array" || literal == "tuple";
  }
  return declared != "dict" || literal == "dict";
}

std::string written(const TypeExpr& type, std::string_view declared) {
  return type.kind == TypeKind::kName ? name_of(type.path[0]) : std::string(declared);
}

const std::vector<Param>* initializer_of(const RecordDecl& record) {
  for (const auto& method : record.methods) {
    const std::string& name = name_of(method->info.name);
    if ((name == "init" || name == "__init__") && !method->is_static) {
      return &method->params;
    }
  }
  return nullptr;
}

bool is_decorated(const DeclInfo& info) {
  return std::any_of(info.attributes.begin(), info.attributes.end(),
                     [](const Attribute& attribute) { return attribute.decorator != nullptr; });
}

int64_t integer_of(const Expr& literal) {
  if (literal.kind == ExprKind::kUnary) {
    return static_cast<int64_t>(-static_cast<uint64_t>(integer_of(*as<UnaryExpr>(literal).operand)));
  }
  return as<IntExpr>(literal).value;
}

// A u64 may be written in hexadecimal digits, whose highest bit is no sign.
void check_literal(const LoadedModule& module, std::string_view type, const Expr& literal) {
  const Value value = Value::integer(integer_of(literal));
  const bool is_negative = value.as_int < 0 && module.source().text[literal.span.start] == '-';
  if (!fits_width(value, narrow_width(type)) || (type == "u64" && is_negative)) {
    throw CompileError{literal.span, "integer literal out of range for " + std::string(type)};
  }
}

/// A parameter or a field that a call sets.
struct Target {
  Symbol name;
  const TypeExpr* type;
  bool is_required_field = false;
};

// In the order of positional arguments, which end at the first parameter for several.
std::vector<Target> targets_of(const std::vector<Param>& params, size_t& positional) {
  std::vector<Target> targets;
  positional = 0;
  bool is_open = true;
  for (const Param& param : params) {
    is_open = is_open && param.kind == ParamKind::kNormal && !param.only_named;
    positional += is_open ? 1 : 0;
    targets.push_back({param.name, param.kind == ParamKind::kNormal ? param.type.get() : nullptr});
  }
  return targets;
}

// Inherited fields may precede those of the class.
std::vector<Target> targets_of(const RecordDecl& record, size_t& positional) {
  std::vector<Target> targets;
  for (const FieldDecl& field : record.fields) {
    const bool is_optional = field.default_value != nullptr || field.type == nullptr || field.type->optional;
    targets.push_back({field.name, field.type.get(), record.is_class && !is_optional});
  }
  positional = record.parents.empty() ? targets.size() : 0;
  return targets;
}

// Nothing for a declaration that a decorator replaces, or for an extern function, which checks its arguments.
std::vector<Target> targets_of(const Stmt& declaration, size_t& positional) {
  positional = 0;
  if (declaration.kind == StmtKind::kFunction) {
    const auto& function = as<FunctionDecl>(declaration);
    return is_decorated(function.info) || function.is_extern ? std::vector<Target>()
                                                             : targets_of(function.params, positional);
  }
  const auto& record = as<RecordDecl>(declaration);
  if (is_decorated(record.info)) {
    return {};
  }
  const std::vector<Param>* params = initializer_of(record);
  return params != nullptr ? targets_of(*params, positional) : targets_of(record, positional);
}

// The target of a positional or a named argument; null if it is not known.
Target* target_of(const Arg& arg, std::vector<Target>& targets, size_t positional, size_t& next) {
  if (arg.kind == ArgKind::kPositional) {
    return next < positional ? &targets[next++] : nullptr;
  }
  const auto named =
      std::find_if(targets.begin(), targets.end(), [&](const Target& each) { return each.name == arg.name; });
  return named != targets.end() ? &*named : nullptr;
}

}  // namespace

std::string_view declared_type(const TypeExpr& type, const LoadedModule& module) {
  if (!type.modifiers.empty()) {
    return "";
  }
  switch (type.kind) {
    case TypeKind::kArray:
      return "array";
    case TypeKind::kDict:
      return type.args.size() == 2 ? "dict" : "";
    case TypeKind::kName:
      return type.path.size() == 1 && !module.top_names.contains(type.path[0])
                 ? builtin_type(name_of(type.path[0]))
                 : "";
    default:
      return "";
  }
}

void note_declarations(LoadedModule& module, const std::vector<StmtPtr>& statements) {
  for (const auto& stmt : statements) {
    if (stmt->kind == StmtKind::kFunction) {
      module.declarations[as<FunctionDecl>(*stmt).info.name] = stmt.get();
    } else if (stmt->kind == StmtKind::kRecord) {
      module.declarations[as<RecordDecl>(*stmt).info.name] = stmt.get();
    }
  }
}

void check_type(LoadedModule& module, const TypeExpr* written_type, const Expr* value,
                const std::string& what) {
  if (written_type == nullptr || value == nullptr || module.is_library) {
    return;
  }
  const TypeExpr* const type = &module.unaliased(*written_type);
  const std::string_view declared = declared_type(*type, module), literal = literal_type(*value);
  if (declared.empty() || literal.empty()) {
    return;
  }
  if (literal == "i64" && declared != "i64" && is_integer_type(declared)) {
    check_literal(module, declared, *value);
  }
  const bool is_bool_of_python =  // where it is a number
      literal == "bool" && module.uses_torch && (is_integer_type(declared) || is_float_type(declared));
  if (!accepts(declared, literal) && !is_bool_of_python) {
    warn_once(module, {value->span,
                       what + " is declared as " + written(*type, declared) + ", got " + std::string(literal),
                       "change the value or the type"});
  } else if (type->kind == TypeKind::kArray && !type->args.empty() && value->kind == ExprKind::kArray) {
    for (const Element& element : as<ArrayExpr>(*value).elements) {
      check_type(module, element.spread ? nullptr : type->args[0].get(), element.value.get(),
                 "an element of " + what);
    }
  }
}

// Before `value` is assigned to the variable.
void FunctionCompiler::check_width(Symbol variable, Register value) {
  const Local* local = find_local(variable);
  if (local == nullptr) {
    local = captured_local(variable);
  }
  Demand demand = local != nullptr ? local->demand : 0;
  if (local == nullptr && resolve(variable).form == Name::Form::kGlobal) {
    const auto found = module_.widths.find(variable);
    demand = found != module_.widths.end() ? found->second : 0;
  }
  check_demand(demand, value, "'" + name_of(variable) + "'");
}

void FunctionCompiler::check_arguments(const Expr& callee, const std::vector<Arg>& args) {
  if (callee.kind != ExprKind::kName || module_.is_library) {
    return;
  }
  const auto found = module_.declarations.find(as<NameExpr>(callee).name);
  if (found == module_.declarations.end() || find_local(found->first) != nullptr) {
    return;
  }
  size_t positional = 0;
  std::vector<Target> targets = targets_of(*found->second, positional);
  const std::string call = name_of(found->first) + "(): ";
  size_t next = 0;
  for (const Arg& arg : args) {
    if (arg.kind != ArgKind::kPositional && arg.kind != ArgKind::kNamed) {
      return;  // the values of a spread have unknown places
    }
    Target* target = target_of(arg, targets, positional, next);
    if (target == nullptr) {
      return;  // the call is an error, or the place of its arguments is not known
    }
    check_type(module_, target->type, arg.value.get(), call + "'" + name_of(target->name) + "'");
    target->is_required_field = false;
  }
  const auto missing =
      std::find_if(targets.begin(), targets.end(), [](const Target& each) { return each.is_required_field; });
  if (missing != targets.end() && !args.empty() && positional == targets.size()) {
    warn_once({callee.span, call + "'" + name_of(missing->name) + "' is missing and becomes nil",
               "pass it, or declare a default or an optional type (T?) in the class"});
  }
}

void FunctionCompiler::check_defaults(const std::vector<Param>& params) {
  for (const Param& param : params) {
    check_type(module_, param.type.get(), param.default_value.get(), "'" + name_of(param.name) + "'");
  }
}

void FunctionCompiler::check_result(const FunctionDecl& decl) {
  const bool has_value = decl.body && !decl.body->statements.empty() && !decl.is_async;
  const Stmt* last = has_value ? decl.body->statements.back().get() : nullptr;
  if (last != nullptr && last->kind == StmtKind::kExpr) {
    check_type(module_, decl.return_type.get(), as<ExprStmt>(*last).value.get(),
               "the result of " + name_of(decl.info.name) + "()");
  }
}

}  // namespace spl
