// A method of a struct or enum that is no `me` method works on a copy of its receiver, so that nothing sees
// its changes of `self`. The compiler warns about them.
#include <algorithm>

#include "host/compiler/compiler.h"
#include "host/compiler/type_names.h"

namespace spl {

namespace {

// What a place holds, as far as the declarations show it: a value of which a copy is changed, or anything.
struct Held {
  enum class Form { kUnknown, kCollection, kValueType } form = Form::kUnknown;
  const TypeExpr* type = nullptr;  // of a collection; may be null
  const Type* of = nullptr;        // the struct or enum
};

const Record* struct_of(const Held& held) {
  return held.of != nullptr && held.of->kind == Kind::kRecord ? static_cast<const Record*>(held.of) : nullptr;
}

Held held_type(Value type) {
  const bool is_struct = type.is(Kind::kRecord) && !as_object<Record>(type)->is_class;
  return is_struct || type.is(Kind::kEnum) ? Held{Held::Form::kValueType, nullptr, as_object<Type>(type)}
                                           : Held{};
}

class Places {
 public:
  Places(LoadedModule& module, Value receiver) : module_(module), receiver_(receiver) {}

  Held held_by(const Expr& place) const {
    switch (place.kind) {
      case ExprKind::kSelf:
        return held_type(receiver_);
      case ExprKind::kName:
        return field_of(held_type(receiver_), as<NameExpr>(place).name);
      case ExprKind::kField:
        return field_of(held_by(object_of(place)), as<FieldExpr>(place).name);
      case ExprKind::kIndex:
        return element_of(held_by(object_of(place)));
      default:
        return {};
    }
  }

 private:
  Held declared(const TypeExpr* written) const {
    if (written == nullptr) {
      return {};
    }
    const TypeExpr& type = module_.unaliased(*written);
    const bool is_name = type.kind == TypeKind::kName && type.path.size() == 1;
    const std::string_view name = is_name ? builtin_type(name_of(type.path[0])) : "";
    if (type.kind == TypeKind::kArray || type.kind == TypeKind::kDict || name == "array" || name == "dict") {
      return {Held::Form::kCollection, &type, nullptr};
    }
    return is_name && name.empty() ? held_type(module_.lookup(type.path[0])) : Held{};
  }

  Held field_of(const Held& object, Symbol name) const {
    const Record* record = struct_of(object);
    if (record == nullptr || !record->field_index.contains(name)) {
      return {};
    }
    const FieldInfo& field = record->fields[record->field_index.at(name)];
    const bool is_collection = field.default_value.is(Kind::kArray) || field.default_value.is(Kind::kDict);
    return field.type == nullptr && is_collection ? Held{Held::Form::kCollection} : declared(field.type);
  }

  Held element_of(const Held& collection) const {
    const bool is_known = collection.form == Held::Form::kCollection && collection.type != nullptr &&
                          !collection.type->args.empty();
    return is_known ? declared(collection.type->args.back().get()) : Held{};
  }

  LoadedModule& module_;
  Value receiver_;
};

bool is_called_in_place(const FunctionDecl& method) {
  const std::string& name = name_of(method.info.name);
  return method.is_mutating || method.is_static || name == "init" || name == "__init__" ||
         name == "__post_init__" || name == "drop";
}

}  // namespace

// The method whose own copy of `self` this code changes; null if the caller sees the change.
const FunctionDecl* FunctionCompiler::method_on_copy() const {
  const FunctionCompiler* method = this;
  while (!method->has_own_self_ && method->parent_ != nullptr) {
    method = method->parent_;
  }
  const FunctionDecl* declaration = method->proto_->declaration;
  const bool is_seen = !method->has_own_self_ || declaration == nullptr || module_.is_library ||
                       is_called_in_place(*declaration) || method->keeps_self_;
  return is_seen ? nullptr : declaration;
}

// Whether the type has a `me` method of this name, or its declaration, whose methods are being compiled.
bool FunctionCompiler::changes_receiver(const Type& type, Symbol method) const {
  if (const Method* found = type.find(method)) {
    return found->is_mutating;
  }
  const auto declaration = module_.declarations.find(type.name);
  if (declaration == module_.declarations.end() || declaration->second->kind != StmtKind::kRecord) {
    return false;
  }
  const auto& methods = as<RecordDecl>(*declaration->second).methods;
  return std::any_of(methods.begin(), methods.end(), [method](const FunctionPtr& each) {
    return each->info.name == method && each->is_mutating;
  });
}

// `changed` is the value of which a part is assigned, or that a method changes.
void FunctionCompiler::check_self_change(const Expr& changed, Symbol method, const SourceSpan& span) {
  const Expr& root = root_of(changed);
  const bool is_field =
      root.kind == ExprKind::kName && resolve(as<NameExpr>(root).name).form == Name::Form::kField;
  const FunctionDecl* on_copy = root.kind == ExprKind::kSelf || is_field ? method_on_copy() : nullptr;
  if (on_copy == nullptr) {
    return;
  }
  const Value receiver = module_.lookup(owner_name());
  const Places places(module_, receiver);
  for (const Expr* part = &changed;; part = &object_of(*part)) {
    const Held held = places.held_by(*part);
    if (held.form == Held::Form::kUnknown) {
      return;  // possibly an object, whose changes all its holders see
    }
    if (part == &changed && method != kNoSymbol && held.form == Held::Form::kValueType) {
      if (!changes_receiver(*held.of, method)) {
        return;
      }
    }
    if (part == &root) {
      break;
    }
  }
  warn_of_lost_change(*on_copy, span);
}

void FunctionCompiler::warn_of_lost_change(const FunctionDecl& method, const SourceSpan& span) {
  const std::string name = name_of(method.info.name), type = name_of(owner_name());
  warn_once({span,
             "fn " + name + "() changes its own copy of 'self', and the caller's " + type + " stays as it is",
             "declare the method with 'me " + name + "(…)', which changes the value that it is called on"});
}

}  // namespace spl
