// Adds impl blocks, traits and parent classes to types.
#include <algorithm>
#include <unordered_map>

#include "host/values/direct_calls.h"
#include "host/values/module.h"
#include "host/vm/hints.h"
#include "host/vm/protocols.h"
#include "host/vm/thread.h"
#include "host/vm/type_links.h"

namespace spl {

namespace {

/// The value of a path such as nn.Module, or missing. A member of an object is an attribute of another
/// language's module.
Ref find_type(LoadedModule& module, const std::vector<Symbol>& path) {
  if (path.empty()) {
    return Ref::owned(Value::missing());
  }
  Ref at = Ref::shared(module.lookup(path[0]));
  for (size_t i = 1; i < path.size() && !at.get().is_missing(); ++i) {
    const Value owner = at.get();
    if (owner.is(Kind::kInstance)) {
      at = Ref::owned(current_thread().get_field(owner, path[i]));
    } else {
      at = Ref::shared(owner.is(Kind::kModule) ? static_cast<LoadedModule*>(owner.as_object)->member(path[i])
                                               : Value::missing());
    }
  }
  return at;
}

/// A class whose parents are classes of another language becomes such a class. Its statement binds the name
/// to the new class; the record remains only as the description of the class.
void become_foreign(Type& type, std::vector<Value> owned_parents, LoadedModule& module) {
  const Ref parents = Ref::owned(make_array(std::move(owned_parents)));
  const Value first = as_object<Array>(parents.get())->items.front();
  if (type.kind != Kind::kRecord || !static_cast<Record&>(type).is_class) {
    fail(name_of(type.name) + ": only a class can have a parent of another language");
  }
  const Value args[] = {Value::object(&type), parents.get()};
  const Ref created = Ref::owned(current_thread().call_method_of(first, *subclass_maker(first), args, 2));
  assign(static_cast<Record&>(type).foreign, retained(created.get()));
  module.define(type.name, retained(created.get()));
}

bool replaces_any(const Type& type, const std::vector<Symbol>& methods) {
  return std::any_of(methods.begin(), methods.end(),
                     [&](Symbol name) { return type.methods.contains(name); });
}

void inherit_direct_calls(Record& record, const Record& parent) {
  if (record.direct == nullptr && parent.direct != nullptr && record.fields.empty() &&
      !replaces_any(record, parent.direct->methods)) {
    record.direct = parent.direct;
  }
}

// Adds the default methods of a trait, or the methods and fields of a parent class.
void inherit(Type& type, const Type& parent) {
  if (type.kind == Kind::kRecord && parent.kind == Kind::kRecord) {
    inherit_direct_calls(static_cast<Record&>(type), static_cast<const Record&>(parent));
  }
  for (auto [name, method] : parent.methods) {
    method.origin = Origin::kDefault;
    type.methods.emplace(name, method);  // the first of two parents wins
  }
  for (const auto& [name, value] : parent.statics) {
    type.statics.emplace(name, retained(value));
  }
  if (type.kind != Kind::kRecord || parent.kind != Kind::kRecord) {
    return;
  }
  auto& record = static_cast<Record&>(type);
  for (FieldInfo field : static_cast<const Record&>(parent).fields) {
    if (!record.field_index.emplace(field.name, static_cast<uint32_t>(record.fields.size())).second) {
      continue;
    }
    if (record.has_objects) {
      fail("objects of " + name_of(record.name) + " were created before it inherited the fields of " +
               name_of(parent.name),
           "create them below this line");
    }
    retained(field.default_value);
    record.fields.push_back(field);
  }
}

/// The methods that impl blocks add to built-in types; null without any.
struct Extensions {
  Type *integer = nullptr, *number = nullptr, *boolean = nullptr, *nothing = nullptr;
  Type* kinds[kKindCount] = {};
};
Extensions& extensions() {
  static Extensions all;
  return all;
}

// The extension slots of a built-in type, by its name; empty for other names.
std::vector<Type**> extension_slots(const std::string& name) {
  static const std::unordered_map<std::string, std::vector<Type**>> table = [] {
    Extensions& all = extensions();
    const auto kind = [&](Kind k) { return &all.kinds[static_cast<size_t>(k)]; };
    std::unordered_map<std::string, std::vector<Type**>> made;
    for (const char* alias :
         {"i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "int", "Int", "Int32", "Int64"}) {
      made[alias] = {&all.integer};
    }
    for (const char* alias : {"f64", "f32", "float", "Float", "Float32", "Float64"}) {
      made[alias] = {&all.number};
    }
    for (const char* alias : {"bool", "Bool"}) {
      made[alias] = {&all.boolean};
    }
    for (const char* alias : {"text", "str", "String"}) {
      made[alias] = {kind(Kind::kText)};
    }
    for (const char* alias : {"Array", "List"}) {
      made[alias] = {kind(Kind::kArray)};
    }
    made["Dict"] = {kind(Kind::kDict)};
    made["Tuple"] = {kind(Kind::kTuple)};
    made["Range"] = {kind(Kind::kRange)};
    made["Function"] = {kind(Kind::kClosure), kind(Kind::kNative), kind(Kind::kExtern),
                        kind(Kind::kBoundMethod)};
    return made;
  }();
  const auto found = table.find(name);
  return found == table.end() ? std::vector<Type**>() : found->second;
}

// The extension of a built-in type; null for other names.
Type* extension_named(Symbol name) {
  const std::vector<Type**> slots = extension_slots(name_of(name));
  if (slots.empty()) {
    return nullptr;
  }
  for (Type** slot : slots) {
    if (*slot == nullptr) {
      *slot = slots.front() != slot ? *slots.front() : new Trait();
    }
  }
  (*slots.front())->name = name;
  return *slots.front();
}

// The type that an impl block extends. The target of `impl [T]` is Array, and so on.
Type* extended_type(const TypeLink& link, LoadedModule& module) {
  if (link.target.empty()) {
    fail("impl: this form of type cannot have methods");
  }
  const Ref target = find_type(module, link.target);
  const Value found = target.get();
  if (found.is(Kind::kRecord) || found.is(Kind::kEnum) || found.is(Kind::kTrait)) {
    return as_object<Type>(found);
  }
  if (Type* type = link.target.size() == 1 ? extension_named(link.target[0]) : nullptr) {
    return type;
  }
  fail("impl: there is no type " + name_of(link.target.back()), name_hint(module, link.target.back()));
}

}  // namespace

Value Thread::super_of(Value parent, Value key) {
  static const Symbol name = intern("__super__");
  const Method* method = find_method(parent, name);
  return method == nullptr ? retained(parent) : call_method_of(parent, *method, &key, 1);
}

const Method* subclass_maker(Value parent) {
  static const Symbol name = intern("__subclass__");
  return parent.is(Kind::kInstance) ? as_object<Instance>(parent)->record->find(name) : nullptr;
}

namespace {

Type* copied(Type* type) {
  Type* copy = nullptr;
  if (type->kind == Kind::kEnum) {
    auto* made = new Enum(*static_cast<Enum*>(type));
    for (uint32_t i = 0; i < made->variants.size(); ++i) {
      if (made->variants[i].arity == 0) {
        made->variants[i].singleton = Value::object(new_enum_value(made, i));
      }
    }
    copy = made;
  } else if (type->kind == Kind::kRecord) {
    copy = new Record(*static_cast<Record*>(type));
  } else {
    copy = new Trait(*static_cast<Trait*>(type));
  }
  copy->refs = 1;
  return copy;
}

}  // namespace

TypeLink bind_link(const TypeLink& link, const Proto& proto, const Value* registers,
                   const Closure* enclosing) {
  TypeLink bound = link;
  bool has_captures = false;
  for (auto& [name, method] : bound.methods) {
    if (!method.function.is_int()) {
      continue;
    }
    const auto which = static_cast<size_t>(method.function.as_int);
    auto* closure = new Closure(proto.protos[which]);
    for (const Capture capture : proto.capture_lists[which]) {
      closure->captured.push_back(
          retained(capture.from_local ? registers[capture.index] : enclosing->captured[capture.index]));
    }
    method.function = Value::object(closure);
    has_captures = true;
  }
  if (has_captures && link.is_local) {
    bound.type = copied(link.type);
    proto.module->define(link.type->name, Value::object(bound.type));
  }
  return bound;
}

bool is_of_foreign_class(Value v, Value foreign) {
  static const Symbol check = intern("__instancecheck__");
  const Ref answer = Ref::owned(current_thread().call_method(foreign, check, &v, 1));
  return truthy(answer.get());
}

bool is_of_type(Value v, const Type* type) {
  if (type->kind == Kind::kRecord && static_cast<const Record*>(type)->foreign.is_object()) {
    return v.is(Kind::kInstance) && is_of_foreign_class(v, static_cast<const Record*>(type)->foreign);
  }
  const Type* own = v.is(Kind::kInstance)    ? static_cast<const Type*>(as_object<Instance>(v)->record)
                    : v.is(Kind::kEnumValue) ? static_cast<const Type*>(as_object<EnumValue>(v)->type)
                                             : extension_of(v);
  if (own == nullptr) {
    return false;
  }
  return own == type || std::find(own->parents.begin(), own->parents.end(), type) != own->parents.end();
}

const Type* extension_of(Value v) {
  const Extensions& all = extensions();
  if (v.is_object()) {
    return all.kinds[static_cast<size_t>(v.as_object->kind)];
  }
  return v.is_int() ? all.integer : v.is_float() ? all.number : v.is_bool() ? all.boolean : all.nothing;
}

void Thread::link_type(const TypeLink& link, LoadedModule& module) {
  Type* type = link.type != nullptr ? link.type : extended_type(link, module);
  ++method_epoch();
  // A declaration inside a function resets its statics each time it runs.
  for (const auto& [name, is_constant] : type->declared_statics) {
    if (const auto old = type->statics.find(name); link.type != nullptr && old != type->statics.end()) {
      const Ref old_value = Ref::owned(old->second);
      type->statics.erase(old);
    }
  }
  for (const auto& [name, method] : link.methods) {
    type->add(name, method);
  }
  std::vector<Value> foreign_parents;
  for (const auto& path : link.parents) {
    const Ref found = find_type(module, path);
    const Value parent = found.get();
    if (subclass_maker(parent) != nullptr) {
      foreign_parents.push_back(retained(parent));
      continue;
    }
    if (!parent.is(Kind::kTrait) && !parent.is(Kind::kRecord)) {
      if (path.empty()) {
        fail(name_of(type->name) + ": this form of type cannot be a parent");
      }
      fail(name_of(type->name) + ": there is no trait " + name_of(path.back()),
           name_hint(module, path.back()));
    }
    const Type* ancestor = as_object<Type>(parent);
    inherit(*type, *ancestor);
    type->parents.push_back(ancestor);
    type->parents.insert(type->parents.end(), ancestor->parents.begin(), ancestor->parents.end());
  }
  if (type->kind != Kind::kRecord) {
    return;
  }
  auto* record = static_cast<Record*>(type);
  record->cache_hooks();
  if (!foreign_parents.empty()) {
    become_foreign(*record, std::move(foreign_parents), module);
  }
  if (link.type != nullptr) {
    record->awaits_statement = false;
  }
}

}  // namespace spl
