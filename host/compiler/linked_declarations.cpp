// Declarations where they run: the methods, parents, impls and constants of types.
#include "host/compiler/compiler.h"
#include "host/compiler/type_names.h"

namespace spl {

namespace {

bool implicitly_static(const FunctionDecl& decl) {
  const std::string& name = name_of(decl.info.name);
  return !decl.takes_self && !decl.uses_self && !decl.is_mutating &&
         (name == "new" || name == "create" || name == "default" || name == "init" ||
          name.starts_with("from_") || name.starts_with("with_"));
}

// The type that an impl extends: a name, or that of a built-in type spelled with brackets.
std::vector<Symbol> extended_path(const TypeExpr& type) {
  switch (type.kind) {
    case TypeKind::kArray:
      return {intern("Array")};
    case TypeKind::kDict:
      return {intern("Dict")};
    case TypeKind::kTuple:
      return {intern("Tuple")};
    case TypeKind::kFunction:
      return {intern("Function")};
    default:
      return type_path(type);
  }
}

// Built-in types that are not values: an alias of one serves annotations only.
bool names_only_a_type(Symbol symbol) {
  return !builtin_type(name_of(symbol)).empty() && !builtins().contains(symbol);
}

}  // namespace

// A method that uses variables of this function becomes a closure when the declaration runs. Until then its
// index among the protos stands for it.
bool FunctionCompiler::capturing_method(const FunctionDecl& decl, Symbol type,
                                        const std::vector<Symbol>& fields, Method& method) {
  FunctionCompiler inner(module_, this, cells_, &fields);
  inner.belong_to(type);
  const Proto* proto = inner.function(decl, true);
  if (inner.captures().empty()) {
    return false;
  }
  proto_->protos.push_back(proto);
  proto_->capture_lists.push_back(inner.captures());
  method.function = Value::integer(static_cast<int64_t>(proto_->protos.size()) - 1);
  method.is_mutating = decl.is_mutating;
  return true;
}

void FunctionCompiler::link_methods(TypeLink& link, const std::vector<FunctionPtr>& methods, Symbol type,
                                    const std::vector<Symbol>& fields) {
  if (at_module_level()) {
    return;
  }
  for (const auto& decl : methods) {
    if (Method method; decl->body && !decl->is_static && !is_decorated(module_, decl->info) &&
                       capturing_method(*decl, type, fields, method)) {
      link.methods.emplace_back(decl->info.name, method);
    }
  }
}

std::vector<Symbol> FunctionCompiler::fields_of(Symbol type) const {
  std::vector<Symbol> fields;
  if (const Value known = module_.lookup(type); known.is(Kind::kRecord)) {
    for (const FieldInfo& field : as_object<Record>(known)->fields) {
      if (field.is_declared) {
        fields.push_back(field.name);
      }
    }
  }
  return fields;
}

TypeLink FunctionCompiler::link_to(Symbol type, const std::vector<TypePtr>& parents) {
  TypeLink link;
  link.type = static_cast<Type*>(module_.slots[module_.slot(type)].as_object);
  link.is_local = !at_module_level();
  for (const auto& parent : parents) {
    link.parents.push_back(parent.get());
    value_of_type(link, parent.get());
  }
  return link;
}

// Adds the value of a type that is not a name of the module, and those inside.
void FunctionCompiler::value_of_type(TypeLink& link, const TypeExpr* type) {
  if (type == nullptr) {
    return;
  }
  for (const TypePtr& part : type->args) {
    value_of_type(link, part.get());
  }
  const bool is_variable = type->kind == TypeKind::kName && !type->path.empty() &&
                           builtin_type(name_of(type->path[0])).empty() &&
                           (find_local(type->path[0]) != nullptr || captured_local(type->path[0]) != nullptr);
  if (!is_variable && type->kind != TypeKind::kComputed) {
    return;
  }
  const Register value = temporary();
  type->kind == TypeKind::kComputed ? expr_to(*type->value_of, value) : type_to(*type, value);
  link.values.push_back({type, value});
}

// The methods of the link capture temporaries, which the link consumes.
void FunctionCompiler::emit_link(TypeLink link) {
  std::vector<Register> used;
  for (const LinkedValue& value : link.values) {
    used.push_back(value.source);
  }
  for (const auto& [name, method] : link.methods) {
    if (!method.function.is_int()) {
      continue;
    }
    for (const Capture& capture : proto_->capture_lists[static_cast<size_t>(method.function.as_int)]) {
      if (capture.from_local && (capture.index & kTemporary) != 0) {
        used.push_back(capture.index);
      }
    }
  }
  proto_->links.push_back(std::move(link));
  emit_wide(Op::kLink, 0, static_cast<int32_t>(proto_->links.size() - 1));
  for (const Register temporary : used) {
    emit(Op::kRelease, temporary);
  }
}

void FunctionCompiler::compile(const RecordDecl& decl) {
  const Symbol name = decl.info.name;
  declare_local_type(decl, name);
  TypeLink link = link_to(name, decl.parents);
  const std::vector<Symbol> fields = fields_of(name);
  for (const FieldDecl& field : decl.fields) {
    value_of_type(link, link.parents.empty() ? nullptr : field.type.get());
  }
  link_methods(link, decl.methods, name, fields);
  decorate_methods(link, decl.methods, name, fields);
  if (!link.parents.empty() || !link.methods.empty() || is_decorated(module_, decl.info)) {
    static_cast<Record*>(link.type)->awaits_statement = true;
  }
  emit_link(std::move(link));
  for (const auto& constant_stmt : decl.constants) {
    static_value(name, as<BindStmt>(*constant_stmt));
  }
  decorate_type(decl.info);
}

void FunctionCompiler::static_value(Symbol type, const BindStmt& stmt) {
  if (stmt.pattern->kind != PatternKind::kBinding || !stmt.value) {
    error_at(stmt.span, "a constant of a type must be one name with a value");
  }
  const uint32_t mark = temporary_count_;
  const Register owner = temporary();
  emit_wide(Op::kGetGlobal, owner, static_cast<int32_t>(module_.slot(type)));
  const Register value = temporary_of(*stmt.value);
  emit(Op::kSetField, owner, value, cache(as<BindingPattern>(*stmt.pattern).name));
  emit(Op::kRelease, owner);
  temporary_count_ = mark;
}

void FunctionCompiler::compile(const TraitDecl& decl) {
  declare_local_type(decl, decl.info.name);
  TypeLink link = link_to(decl.info.name, decl.parents);
  reject_decorators(module_, decl.info, "a trait");
  link_methods(link, decl.methods, decl.info.name, {});
  decorate_methods(link, decl.methods, decl.info.name, {});
  emit_link(std::move(link));
}

void FunctionCompiler::compile(const EnumDecl& decl) {
  declare_local_type(decl, decl.info.name);
  TypeLink link = link_to(decl.info.name, {});
  reject_decorators(module_, decl.info, "an enum");
  link_methods(link, decl.methods, decl.info.name, {});
  decorate_methods(link, decl.methods, decl.info.name, {});
  if (!link.methods.empty()) {
    emit_link(std::move(link));
  }
}

void FunctionCompiler::compile(const ImplDecl& decl) {
  TypeLink link;
  link.target = extended_path(*decl.target);
  if (decl.trait) {
    link.parents.push_back(decl.trait.get());
  }
  const Symbol type = link.target.size() == 1 ? link.target[0] : kNoSymbol;
  const std::vector<Symbol> fields = type == kNoSymbol ? std::vector<Symbol>() : fields_of(type);
  for (const auto& method : decl.methods) {
    if (!method->body || is_decorated(module_, method->info)) {
      continue;
    }
    const bool is_static = method->is_static || implicitly_static(*method);
    Method made;
    if (at_module_level() || is_static || !capturing_method(*method, type, fields, made)) {
      made = make_method(module_, *method, type, fields, is_static);
    }
    made.origin = decl.trait ? Origin::kTraitImpl : Origin::kImpl;
    link.methods.emplace_back(method->info.name, made);
  }
  decorate_methods(link, decl.methods, type, fields);
  emit_link(std::move(link));
}

void FunctionCompiler::compile(const TypeAliasDecl& decl) {
  reject_decorators(module_, decl.info, "a type alias");
  const auto path = type_path(*decl.type);
  if (!at_module_level()) {
    module_.aliases[decl.info.name] = decl.type.get();
  } else if (!module_.slots[module_.slot(decl.info.name)].is_missing()) {
    return;  // defined when the module was announced
  }
  const Register value = temporary();
  if (path.empty() || (path.size() == 1 && names_only_a_type(path[0]))) {
    emit(Op::kLoadNil, value);
  } else {
    emit_wide(Op::kGetGlobal, value, static_cast<int32_t>(module_.slot(path[0])));
    for (size_t i = 1; i < path.size(); ++i) {
      emit(Op::kGetField, value, value, cache(path[i]));
    }
  }
  set_global(value, module_.slot(decl.info.name));
}

}  // namespace spl
