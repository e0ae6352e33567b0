// Modules as a whole, and the types that they declare, before any of their code runs.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "host/compiler/class_variables.h"
#include "host/compiler/compiler.h"
#include "host/compiler/direct_methods.h"
#include "host/compiler/extern.h"
#include "host/compiler/literal_value.h"
#include "host/compiler/type_names.h"
#include "host/syntax/visit.h"
#include "host/values/spelling_suggester.h"

namespace spl {

std::vector<Symbol> type_path(const TypeExpr& type) {
  return type.kind == TypeKind::kName ? type.path : std::vector<Symbol>();
}

namespace {

// Compiles again until no further variable needs a cell.
template <class Compile>
const Proto* compile_until_stable(Compile&& compile) {
  CellSet cells;
  for (;;) {
    const size_t before = cells.size();
    const Proto* proto = compile(cells);
    if (cells.size() == before) {
      return proto;
    }
  }
}

}  // namespace

// @classmethod fn f(cls, …): `cls` is the class that the method is called on. The parser makes it static.
bool takes_class(const FunctionDecl& decl, bool is_static) {
  static const Symbol classmethod = intern("classmethod");
  const auto& attributes = decl.info.attributes;
  const auto marked = std::find_if(attributes.begin(), attributes.end(),
                                   [](const Attribute& a) { return a.name == classmethod; });
  if (marked == attributes.end()) {
    return false;
  }
  if (!is_static || decl.params.empty()) {
    throw CompileError{marked->span, "'classmethod' requires a method with a parameter for the class",
                       "write '@classmethod fn name(cls, …)'"};
  }
  return true;
}

Method make_method(LoadedModule& module, const FunctionDecl& decl, Symbol type,
                   const std::vector<Symbol>& fields, bool is_static, AssignedFields* assigned) {
  const Proto* proto = compile_until_stable([&](CellSet& cells) {
    FunctionCompiler compiler(module, nullptr, cells, is_static ? nullptr : &fields);
    compiler.note_fields(assigned);
    compiler.belong_to(type);
    return compiler.function(decl, !is_static);
  });
  Method made{make_closure(proto), is_static, decl.is_mutating};
  made.takes_class = takes_class(decl, is_static);
  return made;
}

Value zero_of(const TypeExpr* type) {
  if (type == nullptr || type->optional || type->kind != TypeKind::kName || type->path.size() != 1) {
    return Value();
  }
  const std::string_view name = builtin_type(name_of(type->path[0]));
  if (name == "bool") {
    return Value::boolean(false);
  }
  if (is_integer_type(name)) {
    return Value::integer(0);
  }
  if (is_float_type(name)) {
    return Value::number(0);
  }
  return Value();
}

/// Creates the types and functions of one module.
class ModuleCompiler {
 public:
  explicit ModuleCompiler(LoadedModule& module) : module_(module) {}

  const Proto* run() {
    const auto& statements = module_.tree().module.statements;
    share_class_variables(module_);
    note_aliases(statements);
    for (const auto& stmt : statements) {
      announce(*stmt, true);
    }
    const Module& tree = module_.tree().module;
    module_.variables.insert(tree.globals.begin(), tree.globals.end());
    module_.variables.insert(tree.inner_variables.begin(), tree.inner_variables.end());
    define_aliases();
    withhold_decorated(statements);
    note_top_names();
    note_plain_methods();
    note_declarations(module_, statements);
    note_later_assignments(statements);
    for (const auto& stmt : statements) {
      define(*stmt);
    }
    for (const auto& stmt : statements) {
      if (stmt->kind == StmtKind::kExport) {
        check_exported(as<ExportDecl>(*stmt));
      }
    }
    const Proto* body = compile_until_stable([&](CellSet& cells) {
      FunctionCompiler compiler(module_, nullptr, cells, nullptr);
      return compiler.module_body(statements);
    });
    warn_unknown_variants(module_);
    warn_about_names(module_);
    module_.declarations.clear();
    return body;
  }

  /// The functions of a program with PyTorch that change variables of the module.
  void note_later_assignments(const std::vector<StmtPtr>& statements) {
    if (!module_.uses_torch || module_.is_library) {
      return;
    }
    for (const auto& stmt : statements) {
      if (stmt->kind == StmtKind::kFunction) {
        note_later_assignments(as<FunctionDecl>(*stmt));
      } else if (stmt->kind == StmtKind::kRecord) {
        for (const auto& method : as<RecordDecl>(*stmt).methods) {
          note_later_assignments(*method);
        }
      }
    }
  }
  void note_later_assignments(const FunctionDecl& decl) {
    if (decl.body) {
      module_.assigned_later.merge(uses_of_variables(decl.params, decl.body->statements).assigned_later);
    }
  }

  /// Declares names before bodies are compiled, so that a body may use names declared below it. `top`: the
  /// statement is not inside a block of the module.
  void announce(const Stmt& stmt, bool top) {
    visit(stmt, [&](const auto& node) { announce_node(node, top); });
  }

  void define(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::kFunction: {
        const auto& decl = as<FunctionDecl>(stmt);
        if (decl.is_extern) {
          break;
        }
        if (!decl.body) {
          throw CompileError{decl.span, "function '" + name_of(decl.info.name) + "' has no body",
                             "'extern fn' declares a native function"};
        }
        const auto undecorated = module_.undecorated.find(&decl);
        const Value function = undecorated != module_.undecorated.end()
                                   ? undecorated->second
                                   : module_.slots[module_.slot(decl.info.name)];
        as_object<Closure>(function)->proto = compile_until_stable([&](CellSet& cells) {
          FunctionCompiler compiler(module_, nullptr, cells, nullptr);
          return compiler.function(decl, false);
        });
        break;
      }
      case StmtKind::kRecord:
        define_record(as<RecordDecl>(stmt));
        break;
      case StmtKind::kEnum:
        define_enum(as<EnumDecl>(stmt));
        break;
      case StmtKind::kTrait: {
        const auto& decl = as<TraitDecl>(stmt);
        define_methods(type_named(decl.info.name), decl.methods, {});
        break;
      }
      default:
        break;
    }
  }

 private:
  // A decorated function has no value until its declaration runs.
  void withhold_decorated(const std::vector<StmtPtr>& statements) {
    for (const auto& stmt : statements) {
      if (stmt->kind != StmtKind::kFunction) {
        continue;
      }
      const auto& decl = as<FunctionDecl>(*stmt);
      if (is_decorated(module_, decl.info)) {
        Value& slot = module_.slots[module_.slot(decl.info.name)];
        module_.undecorated[&decl] = std::exchange(slot, Value::missing());
        module_.fixed.insert(decl.info.name);
      }
    }
  }

  void note_aliases(const std::vector<StmtPtr>& statements) {
    for (const auto& stmt : statements) {
      if (stmt->kind == StmtKind::kTypeAlias) {
        module_.aliases[as<TypeAliasDecl>(*stmt).info.name] = as<TypeAliasDecl>(*stmt).type.get();
      }
    }
  }

  void note_top_names() {
    for (const auto& [name, slot] : module_.names) {
      module_.top_names.insert(name);
    }
    for (const auto& [name, import] : module_.imports) {
      module_.top_names.insert(name);
    }
  }

  void note_plain_methods() {
    std::unordered_set<Symbol> others;
    for (const auto& stmt : module_.unit->tree.module.statements) {
      if (stmt->kind != StmtKind::kRecord) {
        continue;
      }
      const auto& record = as<RecordDecl>(*stmt);
      for (const FieldDecl& field : record.fields) {
        others.insert(field.name);
      }
      for (const FunctionPtr& method : record.methods) {
        (is_plain(*method) ? module_.plain_methods : others).insert(method->info.name);
      }
      check_hooks_of_python(record);
    }
    std::erase_if(module_.plain_methods, [&](Symbol name) { return others.contains(name); });
  }

  // A class with a parent of another module may be one of Python, which calls these methods.
  void check_hooks_of_python(const RecordDecl& record) {
    static const std::unordered_map<std::string, std::string> hooks = {
        {"__init_subclass__", "decorate each subclass, or call a function below it"},
        {"__set_name__", "pass the name to the constructor"},
        {"__missing__", "use std.collections.{defaultdict}"},
        {"__del__", "rename it to drop"},
        {"__getattribute__", "use __getattr__, which is called for names that the object does not have"},
        {"__delattr__", "write a method that removes the entry"}};
    const bool is_own = std::none_of(record.parents.begin(), record.parents.end(),
                                     [](const TypePtr& parent) { return parent->path.size() > 1; });
    for (const FunctionPtr& method : record.methods) {
      const auto found = hooks.find(name_of(method->info.name));
      // The parent of `class Counts(dict)` calls __missing__().
      const bool is_of_dict = !record.parents.empty() && name_of(method->info.name) == "__missing__";
      if (is_own && !is_of_dict && found != hooks.end() && module_.uses_torch && !module_.is_library) {
        warn_once(module_,
                  {method->span, "nothing calls " + found->first + "() of a class of Simple", found->second});
      }
    }
  }

  static bool is_plain(const FunctionDecl& method) {
    return method.params.empty() && method.info.attributes.empty() &&
           !name_of(method.info.name).starts_with("__");
  }

  // ---- Names, by kind of statement; most kinds declare none

  void announce_node(const Stmt&, bool) {}

  void announce_node(const FunctionDecl& decl, bool top) {
    if (!top) {
      return;
    }
    declare_once("function", decl.info.name, decl.span, !decl.is_extern);
    note_exported(decl.info);
    define_name(decl.info.name, decl.is_extern ? make_extern(decl, module_) : make_closure(nullptr));
  }

  void announce_node(const RecordDecl& decl, bool top) {
    declare_once("type", decl.info.name, decl.span, top);
    auto* record = new Record();
    record->is_class = decl.is_class;
    announce_type(record, decl.info, decl.methods, !decl.is_class);
  }

  void announce_node(const EnumDecl& decl, bool top) {
    declare_once("type", decl.info.name, decl.span, top);
    auto* type = new Enum();
    announce_type(type, decl.info, decl.methods, true);
    announce_variants(*type, decl);
  }

  void announce_node(const TraitDecl& decl, bool top) {
    declare_once("type", decl.info.name, decl.span, top);
    announce_type(new Trait(), decl.info, {}, false);
  }

  void announce_node(const ImplDecl& decl, bool) { note_mutating(decl.methods); }

  void announce_node(const BindStmt& stmt, bool top) {
    if (!top) {
      return;
    }
    if (stmt.pattern->kind == PatternKind::kBinding) {
      module_.widths[as<BindingPattern>(*stmt.pattern).name] = declared_demand(module_, stmt.type.get());
    }
    if (stmt.pattern->kind == PatternKind::kBinding && is_unique(stmt)) {
      module_.uniques.insert(as<BindingPattern>(*stmt.pattern).name);
    }
    announce_pattern(*stmt.pattern, stmt.exported,
                     stmt.bind != BindKind::kVal && stmt.bind != BindKind::kConst);
  }

  void announce_node(const AssignStmt& stmt, bool) {
    for (const auto* targets : {&stmt.targets, &stmt.chained}) {
      for (const auto& target : *targets) {
        announce_target(*target);
      }
    }
  }

  void announce_target(const Expr& target) {
    if (target.kind == ExprKind::kName) {
      module_.variables.insert(as<NameExpr>(target).name);
    } else if (target.kind == ExprKind::kTuple) {
      for (const auto& element : as<TupleExpr>(target).elements) {
        announce_target(*element);
      }
    }
  }

  void announce_node(const ExportDecl& decl, bool) {
    for (const auto& name : decl.names) {
      module_.exports.insert(name.alias != kNoSymbol ? name.alias : name.name);
    }
  }

  void announce_node(const TypeAliasDecl& decl, bool) { note_exported(decl.info); }

  // In a program with PyTorch the variables of loops and `with` blocks outlive them, as in Python.
  void announce_of_block(Symbol name) {
    if (module_.uses_torch && !module_.is_library) {
      module_.variables.insert(name);
    }
  }

  void announce_of_loop(const PatternPtr& pattern) {
    if (!pattern) {
      return;
    }
    for_each_binding(*pattern, [&](const BindingPattern& binding) { announce_of_block(binding.name); });
  }

  void announce_node(const ForStmt& stmt, bool) {
    announce_of_loop(stmt.pattern);
    announce_of_loop(stmt.second);
    announce_loop(stmt);
  }

  void announce_node(const WhileStmt& stmt, bool) { announce_loop(stmt); }

  template <class Loop>
  void announce_loop(const Loop& stmt) {
    announce_all(stmt.body);
    if (stmt.otherwise) {
      announce_all(*stmt.otherwise);
    }
  }

  void announce_node(const LoopStmt& stmt, bool) { announce_all(stmt.body); }

  void announce_node(const WithStmt& stmt, bool) {
    for (const WithItem& item : stmt.items) {
      if (item.name != kNoSymbol && !name_of(item.name).starts_with('#')) {
        announce_of_block(item.name);
      }
    }
    announce_all(stmt.body);
  }

  void announce_node(const UnsafeStmt& stmt, bool) { announce_all(stmt.body); }

  void announce_node(const ExprStmt& stmt, bool) {
    if (stmt.value->kind == ExprKind::kMatch) {
      for (const MatchArm& arm : as<MatchExpr>(*stmt.value).arms) {
        announce_all(arm.body);
      }
    }
    if (stmt.value->kind != ExprKind::kIf) {
      return;
    }
    const auto& branches = as<IfExpr>(*stmt.value);
    for (const auto& clause : branches.clauses) {
      announce_all(clause.body);
    }
    if (branches.otherwise) {
      announce_all(*branches.otherwise);
    }
  }

  static void note_mutating(const std::vector<FunctionPtr>& methods) {
    for (const auto& method : methods) {
      if (method->is_mutating) {
        mutating_names().insert(method->info.name);
      }
    }
  }

  static void note_actions(const std::vector<FunctionPtr>& methods) {
    for (const auto& method : methods) {
      if (method->is_mutating) {
        action_names().insert(method->info.name);
      }
    }
  }

  // ---- Types and their members

  // Only the methods of a trait may lack a body. The last of two methods of one name would hide the first.
  static void check_methods(const std::vector<FunctionPtr>& methods) {
    std::unordered_set<Symbol> names;
    for (const auto& method : methods) {
      if (!names.insert(method->info.name).second) {
        throw CompileError{method->span, "redefinition of method '" + name_of(method->info.name) + "'",
                           "a method has one definition; its parameters may have defaults"};
      }
      if (!method->body && !method->is_extern) {
        throw CompileError{method->span, "method '" + name_of(method->info.name) + "' has no body"};
      }
    }
  }

  // Types declared in functions may share a name, types and functions at module level may not. The same
  // extern function may be declared wherever it is used.
  void declare_once(const char* kind, Symbol name, const SourceSpan& span, bool top) {
    if (!top) {
      return;
    }
    if (const auto [first, is_new] = declared_.emplace(name, span); !is_new) {
      throw CompileError{span, std::string("redefinition of ") + kind + " '" + name_of(name) + "'",
                         "line " + std::to_string(first->second.line) + " defines it first"};
    }
  }

  // In a session another cell may have declared the name.
  void define_name(Symbol name, Value owned) {
    if (module_.is_session) {
      module_.forget(name);
      module_.note_change(module_.slot(name));
    }
    module_.define(name, owned);
  }

  void announce_all(const Block& block) {
    for (const auto& stmt : block.statements) {
      announce(*stmt, false);
    }
  }

  bool is_unique(const BindStmt& bind) const {
    if (is_unique_type(bind.type.get())) {
      return true;
    }
    if (!bind.value) {
      return false;
    }
    return makes_unique(*bind.value) ||
           (bind.value->kind == ExprKind::kName && module_.uniques.contains(as<NameExpr>(*bind.value).name));
  }

  void check_exported(const ExportDecl& decl) {
    for (const ImportName& name : decl.names) {
      if (module_.knows(name.name) || module_.aliases.contains(name.name)) {
        continue;
      }
      SpellingSuggester suggester(name_of(name.name));
      for (const auto& [known, slot] : module_.names) {
        if (module_.knows(known)) {
          suggester.offer(name_of(known));
        }
      }
      throw CompileError{name.span, "'" + name_of(name.name) + "' is exported but not defined",
                         suggester.hint()};
    }
  }

  void note_exported(const DeclInfo& info) {
    if (info.exported) {
      module_.exports.insert(info.name);
    }
  }

  void announce_type(Type* type, const DeclInfo& info, const std::vector<FunctionPtr>& methods,
                     bool by_value) {
    type->name = info.name;
    type->module = &module_;
    note_exported(info);
    define_name(info.name, Value::object(type));
    if (by_value) {
      note_mutating(methods);
    } else {
      note_actions(methods);
    }
  }

  // A variant with a number may be listed again with the same number, which has no effect.
  void check_repeated(const VariantDecl& variant, const VariantInfo& again, const VariantInfo& first) {
    const std::string message = "duplicate variant '" + name_of(variant.name) + "'";
    if (!first.value.is_int() || !again.value.is_int() || first.value.as_int != again.value.as_int) {
      throw CompileError{variant.span, message};
    }
    module_.warnings.push_back({variant.span, message, "it has the same number as the first one"});
  }

  // Variants are known before any match in the module is compiled.
  void announce_variants(Enum& type, const EnumDecl& decl) {
    type.is_of_python = decl.is_of_python;
    type.is_strong = std::any_of(decl.info.attributes.begin(), decl.info.attributes.end(),
                                 [](const Attribute& a) { return name_of(a.name) == "strong"; });
    for (const VariantDecl& variant : decl.variants) {
      VariantInfo info;
      info.name = variant.name;
      info.field_names = variant.field_names;
      info.arity = static_cast<uint32_t>(variant.field_types.size());
      if (variant.value && !literal_value(*variant.value, info.value) && decl.is_of_python) {
        throw CompileError{variant.span, "the value of a member of an Enum must be a literal"};
      }
      if (const int known = type.index_of(variant.name); known >= 0) {
        check_repeated(variant, info, type.variants[static_cast<size_t>(known)]);
        continue;
      }
      type.variants.push_back(info);
    }
    for (uint32_t i = 0; i < type.variants.size(); ++i) {
      if (type.variants[i].arity == 0) {
        type.variants[i].singleton = Value::object(new_enum_value(&type, i));
      }
    }
    note_variants(type);
  }

  // An alias is another name of the same type from the start. An alias of an alias declared below needs
  // another round. An alias that is still undefined then is looked up when its statement runs.
  void define_aliases() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [name, type] : module_.aliases) {
        const auto path = type_path(*type);
        const bool undefined = module_.slots[module_.slot(name)].is_missing();
        if (path.size() != 1 || !undefined || path[0] == name || module_.imports.contains(name)) {
          continue;
        }
        const Value value = module_.lookup(path[0]);
        if (value.is_missing()) {
          continue;
        }
        module_.define(name, retained(value));
        changed = true;
      }
    }
  }

  void announce_pattern(const Pattern& pattern, bool exported, bool is_variable) {
    if (pattern.kind == PatternKind::kBinding) {
      const auto& binding = as<BindingPattern>(pattern);
      module_.slot(binding.name);
      module_.declared.insert(binding.name);
      if (module_.is_session) {
        module_.forget(binding.name);
      }
      if (exported) {
        module_.exports.insert(binding.name);
      }
      if (is_variable || binding.is_mutable) {
        module_.variables.insert(binding.name);
      } else {
        module_.fixed.insert(binding.name);
      }
    } else if (pattern.kind == PatternKind::kTuple) {
      for (const auto& element : as<TuplePattern>(pattern).elements) {
        announce_pattern(*element, exported, is_variable);
      }
    }
  }

  Type* type_named(Symbol name) { return static_cast<Type*>(module_.slots[module_.slot(name)].as_object); }

  void define_methods(Type* type, const std::vector<FunctionPtr>& methods,
                      const std::vector<Symbol>& fields) {
    for (const auto& decl : methods) {
      if (decl->body && !is_decorated(module_, decl->info)) {
        type->methods[decl->info.name] = make_method(module_, *decl, type->name, fields, decl->is_static);
      }
    }
  }

  // `init` and `__init__` name the same method, so that each overrides and calls the other's.
  static void share_initializer(Record& record) {
    static const Symbol init = intern("init"), dunder = intern("__init__");
    for (const auto& [defined, other] : {std::pair(init, dunder), std::pair(dunder, init)}) {
      const auto found = record.methods.find(defined);
      if (found != record.methods.end() && !found->second.is_static && !record.methods.contains(other)) {
        const Method method = found->second;
        record.methods.emplace(other, method);
      }
    }
  }

  // The fields that methods assign through self follow the declared ones.
  void define_class_methods(Record* record, const std::vector<FunctionPtr>& methods,
                            const std::vector<Symbol>& declared,
                            const std::vector<std::pair<Symbol, Symbol>>& aliases) {
    AssignedFields assigned;
    assigned.has_python_initializer = std::any_of(methods.begin(), methods.end(), [](const auto& decl) {
      return name_of(decl->info.name) == "__init__";
    });
    for (const auto& decl : methods) {
      if (!decl->body) {
        continue;
      }
      const Method method = make_method(module_, *decl, record->name, declared, decl->is_static, &assigned);
      if (!is_decorated(module_, decl->info)) {
        record->methods[decl->info.name] = method;
      }
    }
    for (const auto& [alias, method] : aliases) {
      if (const auto found = record->methods.find(method); found != record->methods.end()) {
        const Method same = found->second;
        record->methods.emplace(alias, same);
      }
    }
    share_initializer(*record);
    std::erase_if(assigned.names, [&](Symbol name) {  // `self.x = …` calls the setter of a property x
      return record->methods.contains(intern(name_of(name) + ".setter"));
    });
    for (const Symbol name : assigned.names) {
      FieldInfo info;
      info.name = name;
      info.is_declared = false;
      record->field_index.emplace(name, static_cast<uint32_t>(record->fields.size()));
      record->fields.push_back(info);
    }
    for (const Symbol name : assigned.unknown) {
      if (record->field_index.contains(name)) {
        module_.bare_fields.insert(name);
      }
    }
  }

  void note_statics(Record& record, const RecordDecl& decl) {
    for (const auto& stmt : decl.constants) {
      const auto& bind = as<BindStmt>(*stmt);
      if (bind.pattern->kind == PatternKind::kBinding) {
        const Symbol name = as<BindingPattern>(*bind.pattern).name;
        record.declared_statics[name] = bind.bind != BindKind::kVar;
        if (const Demand demand = declared_demand(module_, bind.type.get()); demand != 0) {
          record.static_demands[name] = demand;
        }
      }
    }
  }

  void define_record(const RecordDecl& decl) {
    check_methods(decl.methods);
    check_shared_defaults(module_, decl);
    auto* record = static_cast<Record*>(type_named(decl.info.name));
    note_statics(*record, decl);
    record->declaration = &decl.info;
    record->key = key_of_class(decl);
    std::vector<Symbol> fields;
    for (const FieldDecl& field : decl.fields) {
      if (!record->field_index.emplace(field.name, static_cast<uint32_t>(fields.size())).second) {
        throw CompileError{field.span, "duplicate field '" + name_of(field.name) + "'"};
      }
      record->fields.push_back(field_info(decl, field));
      fields.push_back(field.name);
    }
    if (record->is_class) {
      define_class_methods(record, decl.methods, fields, decl.method_aliases);
    } else {
      define_methods(record, decl.methods, fields);
    }
    record->cache_hooks();
    note_direct_calls(*record, decl.methods);
    for (const Symbol inner : decl.inner_types) {
      record->statics[inner] = retained(Value::object(type_named(inner)));
    }
  }

  FieldInfo field_info(const RecordDecl& decl, const FieldDecl& field) {
    FieldInfo info;
    info.name = field.name;
    info.has_default = field.default_value != nullptr;
    info.type = field.type.get();
    check_type(module_, field.type.get(), field.default_value.get(), "'" + name_of(field.name) + "'");
    info.demand = field.bits != 0 ? field.bits : declared_demand(module_, field.type.get());
    if (field.type) {
      info.convertible = intern(convertible_type(module_.unaliased(*field.type)));
    }
    if (!field.default_value) {
      if (!decl.is_class) {
        info.default_value = zero_of(field.type ? &module_.unaliased(*field.type) : nullptr);
      }
    } else if (!literal_value(*field.default_value, info.default_value)) {
      info.initializer = compile_until_stable([&](CellSet& cells) {
        FunctionCompiler compiler(module_, nullptr, cells, nullptr);
        compiler.belong_to(decl.info.name);
        return compiler.initializer(*field.default_value,
                                    name_of(decl.info.name) + "." + name_of(field.name));
      });
    }
    return info;
  }

  void define_enum(const EnumDecl& decl) {
    check_methods(decl.methods);
    auto* type = static_cast<Enum*>(type_named(decl.info.name));
    define_methods(type, decl.methods, {});
    for (const VariantDecl& variant : decl.variants) {
      VariantInfo& info = type->variants[static_cast<size_t>(type->index_of(variant.name))];
      std::vector<Demand> demands;
      for (const TypePtr& part : variant.field_types) {
        demands.push_back(declared_demand(module_, part.get()));
      }
      if (std::any_of(demands.begin(), demands.end(), [](Demand demand) { return demand != 0; })) {
        info.demands = std::move(demands);
      }
    }
  }

  LoadedModule& module_;
  std::unordered_map<Symbol, SourceSpan> declared_;
};

const Proto* compile_module(LoadedModule& module) { return ModuleCompiler(module).run(); }

// ---- Types that functions declare

// Functions may declare types of the same name: the name refers to the declaration that ran last.
void FunctionCompiler::bind_latest_type(Symbol type) {
  const auto slot = module_.slot(type);
  const Register value = temporary();
  emit(Op::kLoadConstant, value, constant(retained(module_.slots[slot])));
  set_global(value, slot);
}

void FunctionCompiler::declare_local_type(const Stmt& stmt, Symbol name) {
  if (at_module_level()) {
    return;
  }
  if (!is_module_ && module_.top_names.contains(name)) {
    error_at(stmt.span, "redefinition of '" + name_of(name) + "', a name of the module",
             "a type declared in a function is a name of the module: rename it");
  }
  ModuleCompiler types(module_);
  types.announce(stmt, true);
  module_.compiles_local_type = true;
  types.define(stmt);
  module_.compiles_local_type = false;
  bind_latest_type(name);
}

}  // namespace spl
