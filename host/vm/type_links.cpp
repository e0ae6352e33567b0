// Adds impl blocks, traits and parent classes to types.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "host/compiler/compiler.h"
#include "host/values/direct_calls.h"
#include "host/values/module.h"
#include "host/vm/described_types.h"
#include "host/vm/hints.h"
#include "host/vm/method_order.h"
#include "host/vm/protocols.h"
#include "host/vm/thread.h"
#include "host/vm/type_links.h"

namespace spl {

namespace {

// A name of a module; with `computed` also one that its function __getattr__ supplies.
Ref member_of_module(LoadedModule& module, Symbol name, bool computed) {
  Ref member = Ref::shared(module.member(name));
  if (!member.get().is_missing() || !computed) {
    return member;
  }
  Ref supplied = Ref::owned(current_thread().computed_member(module, name));
  return supplied.get().is_nil() ? Ref::owned(Value::missing()) : std::move(supplied);
}

}  // namespace

Ref find_type(LoadedModule& module, const std::vector<Symbol>& path, bool computed) {
  if (path.empty()) {
    return Ref::owned(Value::missing());
  }
  Ref at = Ref::shared(module.lookup(path[0]));
  for (size_t i = 1; i < path.size() && !at.get().is_missing(); ++i) {
    const Value owner = at.get();
    if (owner.is(Kind::kInstance)) {
      at = Ref::owned(current_thread().get_field(owner, path[i]));
    } else if (owner.is(Kind::kModule)) {
      at = member_of_module(*static_cast<LoadedModule*>(owner.as_object), path[i], computed);
    } else {
      at = Ref::owned(Value::missing());
    }
  }
  return at;
}

namespace {

void reject_accessors(const Record& record) {
  for (const auto& [name, method] : record.methods) {
    const std::string& spelling = name_of(name);
    if (spelling.find('.') != std::string::npos && !spelling.ends_with(".setter")) {
      fail(name_of(record.name) + ": " + spelling + " requires a class with a Python parent");
    }
  }
}

// A method that assigns `self.x`, where a setter of x is inherited, calls the setter: it makes no field.
void drop_fields_with_setters(Record& record) {
  const auto has_setter = [&](const FieldInfo& field) {
    return !field.is_declared && record.find(setter_of(field.name)) != nullptr;
  };
  if (record.has_objects || std::none_of(record.fields.begin(), record.fields.end(), has_setter)) {
    return;
  }
  std::erase_if(record.fields, has_setter);
  record.field_index.clear();
  for (uint32_t i = 0; i < record.fields.size(); ++i) {
    record.field_index[record.fields[i].name] = i;
  }
}

// Methods of the library's classes work on its own objects only.
void reject_library_parents(const Record& record) {
  for (const Type* parent : record.parents) {
    if (parent->kind == Kind::kRecord && parent->module != nullptr && parent->module->is_library) {
      fail(name_of(record.name) + ": " + name_of(parent->name) +
               ", a class of the library, cannot be a parent next to a class of Python",
           "keep an object of it in a field");
    }
    parent->has_foreign_children = true;
  }
}

/// While it lives, the record's description finds the values of types that are no names of the module.
class TypeValuesScope {
 public:
  TypeValuesScope(Record& record, const std::unordered_map<const TypeExpr*, Ref>& values) : record_(record) {
    record_.type_values = &values;
  }
  ~TypeValuesScope() { record_.type_values = nullptr; }
  TypeValuesScope(const TypeValuesScope&) = delete;
  TypeValuesScope& operator=(const TypeValuesScope&) = delete;

 private:
  Record& record_;
};

/// A class whose parents are classes of another language becomes such a class. Its statement binds the name
/// to the new class; the record remains only as the description of the class.
void become_foreign(Type& type, std::vector<Value> owned_parents, const Ref& keywords,
                    const std::unordered_map<const TypeExpr*, Ref>& type_values) {
  const Ref parents = Ref::owned(make_array(std::move(owned_parents)));
  Value first = as_object<Array>(parents.get())->items.front();
  if (first.is(Kind::kArray)) {
    first = as_object<Array>(first)->items.front();
  }
  if (type.kind != Kind::kRecord || !static_cast<Record&>(type).is_class) {
    fail(name_of(type.name) + ": only a class can have a parent of another language");
  }
  auto& record = static_cast<Record&>(type);
  reject_library_parents(record);
  const Value args[] = {Value::object(&type), parents.get(), keywords.get()};
  const Ref created = [&] {
    const TypeValuesScope scope(record, type_values);
    return Ref::owned(current_thread().call_method_of(first, *subclass_maker(first), args, 3));
  }();
  assign(record.foreign, retained(created.get()));
  record.module->define(type.name, retained(created.get()));
}

bool replaces_any(const Type& type, const std::vector<Symbol>& methods) {
  return std::any_of(methods.begin(), methods.end(),
                     [&](Symbol name) { return type.methods.contains(name); });
}

// A method that assigns an inherited field lists it among the own ones, too.
bool adds_fields(const Record& record, const Record& parent) {
  return std::any_of(record.fields.begin(), record.fields.end(),
                     [&](const FieldInfo& field) { return !parent.field_index.contains(field.name); });
}

void inherit_direct_calls(Record& record, const Record& parent) {
  if (record.direct == nullptr && parent.direct != nullptr && !adds_fields(record, parent) &&
      !replaces_any(record, parent.direct->methods)) {
    record.direct = parent.direct;
  }
}

// A field that a method of the subclass only assigns keeps the parent's declaration with its default.
void inherit_declaration(FieldInfo& own, const FieldInfo& inherited) {
  if (own.is_declared || !inherited.is_declared) {
    return;
  }
  retained(inherited.default_value);
  release(own.default_value);
  own = inherited;
}

// Whether no ancestor of the class has the same field: the class declares it.
bool declares_field(const Record& record, const FieldInfo& field) {
  return std::none_of(record.parents.begin(), record.parents.end(), [&](const Type* ancestor) {
    if (ancestor->kind != Kind::kRecord) {
      return false;
    }
    const auto& other = static_cast<const Record&>(*ancestor);
    const auto found = other.field_index.find(field.name);
    if (found == other.field_index.end()) {
      return false;
    }
    const FieldInfo& inherited = other.fields[found->second];
    return inherited.initializer == field.initializer &&
           is_same(inherited.default_value, field.default_value);
  });
}

void inherit_field(Record& record, FieldInfo field, const Record& parent) {
  const auto [place, is_new] =
      record.field_index.emplace(field.name, static_cast<uint32_t>(record.fields.size()));
  if (!is_new) {
    inherit_declaration(record.fields[place->second], field);
    return;
  }
  if (record.has_objects) {
    fail("objects of " + name_of(record.name) + " were created before it inherited the fields of " +
             name_of(parent.name),
         "create them below this line");
  }
  retained(field.default_value);
  record.fields.push_back(field);
}

void inherit_method(Type& type, Symbol name, Method method) {
  method.origin = Origin::kDefault;
  type.methods.emplace(name, method);  // that of the first class in the order counts
}

// A variable of a class is also that of the classes derived from it, until they assign it.
void inherit_static(Type& type, const Type& parent, Symbol name) {
  Value& value = const_cast<Type&>(parent).statics[name];
  const auto declared = parent.declared_statics.find(name);
  if (declared != parent.declared_statics.end() && !declared->second && !value.is(Kind::kCell)) {
    value = Value::object(new Cell(value));
  }
  if (!type.statics.contains(name)) {
    type.statics.emplace(name, retained(value));
  }
}

// Adds the default methods of a trait, or the methods and fields of a parent class.
void inherit(Type& type, const Type& parent) {
  for (const auto& [name, method] : parent.methods) {
    inherit_method(type, name, method);
  }
  for (const auto& [name, value] : parent.statics) {
    inherit_static(type, parent, name);
  }
  if (type.kind == Kind::kRecord && parent.kind == Kind::kRecord) {
    for (const FieldInfo& field : static_cast<const Record&>(parent).fields) {
      inherit_field(static_cast<Record&>(type), field, static_cast<const Record&>(parent));
    }
  }
}

// Adds what the class itself declares, without what it inherits.
void inherit_own(Type& type, const Type& ancestor) {
  for (const auto& [name, method] : ancestor.methods) {
    if (method.origin != Origin::kDefault) {
      inherit_method(type, name, method);
    }
  }
  for (const auto& [name, value] : ancestor.statics) {
    if (ancestor.declared_statics.contains(name)) {
      inherit_static(type, ancestor, name);
    }
  }
  if (type.kind != Kind::kRecord || ancestor.kind != Kind::kRecord) {
    return;
  }
  const auto& record = static_cast<const Record&>(ancestor);
  for (const FieldInfo& field : record.fields) {
    if (declares_field(record, field)) {
      inherit_field(static_cast<Record&>(type), field, record);
    }
  }
}

void inherit_from_all(Type& type, const std::vector<const Type*>& parents) {
  for (const Type* parent : parents) {
    if (type.kind == Kind::kRecord && parent->kind == Kind::kRecord) {
      inherit_direct_calls(static_cast<Record&>(type), static_cast<const Record&>(*parent));
    }
  }
  if (parents.size() > 1) {
    for (const Type* ancestor : type.parents) {
      inherit_own(type, *ancestor);
    }
  }
  for (const Type* parent : parents) {
    inherit(type, *parent);
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

Value Thread::super_of(Value parent, Value key, const Value* self) {
  static const Symbol name = intern("__super__");
  const Method* method = find_method(parent, name);
  const Value arguments[] = {key, self == nullptr ? Value() : *self};
  return method == nullptr ? retained(parent)
                           : call_method_of(parent, *method, arguments, self == nullptr ? 1 : 2);
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
  for (const LinkedValue& value : link.values) {
    bound.type_values[value.type] = Ref::shared(registers[value.source]);
  }
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
    bound.has_own_type = true;
    proto.module->define(link.type->name, Value::object(bound.type));
  }
  return bound;
}

bool is_of_foreign_class(Value v, Value foreign) {
  static const Symbol check = intern("__instancecheck__");
  const Ref answer = Ref::owned(current_thread().call_method(foreign, check, &v, 1));
  return truthy(answer.get());
}

namespace {

// Whether the class of an object of another language has `type`, a class or trait of Simple, as a parent.
bool is_foreign_child(Value v, const Type* type) {
  static const Symbol check = intern("__has_parent__");
  if (!v.is(Kind::kInstance) || as_object<Instance>(v)->record->as_declared == nullptr) {
    return false;
  }
  const Value key = Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(type)));
  const Method* method = as_object<Instance>(v)->record->find(check);
  const Ref answer =
      Ref::owned(method == nullptr ? Value() : current_thread().call_method_of(v, *method, &key, 1));
  return truthy(answer.get());
}

}  // namespace

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
  if (type->has_foreign_children && is_foreign_child(v, type)) {
    return true;
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

namespace {

Ref parent_value(const TypeLink& link, const TypeExpr& declared, LoadedModule& module) {
  const auto computed = link.type_values.find(&declared);
  return computed == link.type_values.end() ? find_type(module, type_path(declared), true) : computed->second;
}

/// A class of another language. With arguments, as in Generic[T], an array of the class and the arguments'
/// descriptions. Owned.
Value foreign_parent(const TypeLink& link, const TypeExpr& declared, Value parent, LoadedModule& module) {
  if (declared.args.empty()) {
    return retained(parent);
  }
  TypeDescriber describer(module, nullptr, &link.type_values);
  return make_array({retained(parent), describer.describe_parts("", declared.args)});
}

// The keyword arguments of a class statement, such as its metaclass: a dict.
Ref keywords_of(const TypeLink& link) {
  Ref keywords = Ref::owned(Value::object(new Dict()));
  for (const TypeExpr* declared : link.parents) {
    if (declared->keyword != kNoSymbol) {
      as_object<Dict>(keywords.get())
          ->set(make_text(name_of(declared->keyword)), retained(link.type_values.at(declared).get()));
    }
  }
  return keywords;
}

const FunctionDecl* declaration_of(Value function) {
  return function.is(Kind::kClosure) ? as_object<Closure>(function)->proto->declaration : nullptr;
}

// The methods `init` and `__init__` are one: the other name must not keep the function without captured
// values.
void share_initializer(Type& type, Symbol name, const Method& method) {
  static const Symbol init = intern("init"), dunder = intern("__init__");
  if (name != init && name != dunder) {
    return;
  }
  const auto other = type.methods.find(name == init ? dunder : init);
  const FunctionDecl* declaration = declaration_of(method.function);
  if (other != type.methods.end() && declaration != nullptr &&
      declaration_of(other->second.function) == declaration) {
    other->second = method;
  }
}

// The record of a run of a class statement, which only described the new class. Its functions live as long as
// the other language needs them.
void free_description(Record* record, const TypeLink& link) {
  for (const auto& [name, method] : link.methods) {
    release(method.function);
  }
  release(record->foreign);
  delete record;
}

// The trait or class of Simple that a declaration names as a parent.
const Type& parent_type(const Type& type, const TypeExpr& declared, Value parent, LoadedModule& module) {
  if (declared.kind == TypeKind::kComputed) {  // super() has no name for it
    fail(name_of(type.name) + ": a computed parent must be a class of Python, got " + type_name(parent));
  }
  if (!parent.is(Kind::kTrait) && !parent.is(Kind::kRecord)) {
    const std::vector<Symbol> path = type_path(declared);
    if (path.empty()) {
      fail(name_of(type.name) + ": this form of type cannot be a parent");
    }
    fail(name_of(type.name) + ": there is no trait " + name_of(path.back()), name_hint(module, path.back()));
  }
  return *as_object<Type>(parent);
}

bool has_fields_last(const Record& record) {
  static const Symbol order = intern("__order__"), last = intern("__fields_last__");
  return record.field_index.contains(order) || record.declared_statics.contains(last);
}

// The farthest ancestor whose fields follow those of its subclasses, such as Module; null without one.
const Record* ancestor_with_fields_last(const Record& record) {
  const auto found = std::find_if(record.parents.rbegin(), record.parents.rend(), [](const Type* parent) {
    return parent->kind == Kind::kRecord && has_fields_last(*static_cast<const Record*>(parent));
  });
  return found == record.parents.rend() ? nullptr : static_cast<const Record*>(*found);
}

// Inherited fields that are declared precede the own ones, in the order of the parents. A field that both
// declare keeps the parent's place and the own default. The fields of Module and its kin, which are not
// arguments, follow all others.
void order_fields(Record& record) {
  const Record* last = ancestor_with_fields_last(record);
  std::vector<FieldInfo> ordered;
  std::vector<bool> placed(record.fields.size());
  const auto place = [&](Symbol name) {
    const uint32_t at = record.field_index.at(name);
    if (!placed[at]) {
      placed[at] = true;
      ordered.push_back(record.fields[at]);
    }
  };
  for (const Type* parent : record.parents) {
    if (parent->kind != Kind::kRecord) {
      continue;
    }
    for (const FieldInfo& field : static_cast<const Record*>(parent)->fields) {
      if (field.is_declared && (last == nullptr || !last->field_index.contains(field.name))) {
        place(field.name);
      }
    }
  }
  if (ordered.empty()) {
    return;
  }
  for (const FieldInfo& field : record.fields) {
    place(field.name);
  }
  record.fields = std::move(ordered);
  for (uint32_t i = 0; i < record.fields.size(); ++i) {
    record.field_index[record.fields[i].name] = i;
  }
}

}  // namespace

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
    share_initializer(*type, name, method);
  }
  std::vector<const Type*> parents;
  std::vector<Value> foreign_parents;
  const Ref keywords = keywords_of(link);
  for (const TypeExpr* declared : link.parents) {
    if (declared->keyword != kNoSymbol) {
      continue;
    }
    const Ref found = parent_value(link, *declared, module);
    if (subclass_maker(found.get()) != nullptr) {
      foreign_parents.push_back(foreign_parent(link, *declared, found.get(), module));
    } else {
      parents.push_back(&parent_type(*type, *declared, found.get(), module));
    }
  }
  add_ancestors(*type, parents);
  inherit_from_all(*type, parents);
  if (foreign_parents.empty() && as_object<Dict>(keywords.get())->live > 0) {
    fail(name_of(type->name) + ": only a class with a Python parent can have keyword arguments");
  }
  if (type->kind != Kind::kRecord) {
    return;
  }
  auto* record = static_cast<Record*>(type);
  drop_fields_with_setters(*record);
  if (!record->has_objects) {
    order_fields(*record);
  }
  record->cache_hooks();
  if (foreign_parents.empty()) {
    reject_accessors(*record);
  } else {
    become_foreign(*record, std::move(foreign_parents), keywords, link.type_values);
    if (link.has_own_type) {
      free_description(record, link);
      return;
    }
  }
  if (link.type != nullptr) {
    record->awaits_statement = false;
  }
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): a Ref owns the dict of keywords

}  // namespace spl
