// Reading and writing the fields of a value.
#include <algorithm>
#include <cmath>

#include "host/compiler/compiler.h"
#include "host/values/direct_calls.h"
#include "host/values/module.h"
#include "host/values/shape.h"
#include "host/values/sized.h"
#include "host/vm/hints.h"
#include "host/vm/machine_hooks.h"
#include "host/vm/natives.h"
#include "host/vm/protocols.h"
#include "host/vm/thread.h"

namespace spl {

Value Thread::computed_member(LoadedModule& module, Symbol name) {
  static const Symbol hook = intern("__getattr__");
  const Value getter = module.own(hook);
  if (getter.is_missing() || (module.hides(name) && module.has(name))) {
    return Value();
  }
  const Ref text = Ref::owned(make_text(name_of(name)));
  const Value argument = text.get();
  return call(getter, &argument, 1);
}

Value Thread::module_member(LoadedModule& module, Symbol name) {
  const Value member = module.member(name);
  if (!member.is_missing()) {
    return retained(member);
  }
  const Value computed = computed_member(module, name);
  if (computed.is_nil()) {
    fail_no_member(module, name, module.name);
  }
  return computed;
}

namespace {

[[noreturn]] void fail_change_as_value(const std::string& name) {
  fail(name + "() changes its receiver and is not called here",
       "add the parentheses: ." + name + "(), or write a lambda: \\x: items." + name + "(x)");
}

// The value of a method that is read as a field: its result if it needs no arguments, else the bound method.
// A `me` method is an action, which reading does not perform.
Value method_as_value(Thread& thread, Value object, const Method& method) {
  const Proto* proto = as_object<Closure>(method.function)->proto;
  const bool is_class = object.is(Kind::kInstance) && as_object<Instance>(object)->record->is_class;
  if (method.is_mutating && !method.is_static && !is_class) {
    fail_change_as_value(proto->name);
  }
  if (!method.is_static && !method.is_mutating && proto->required <= 1) {
    if (proto->is_operator()) {
      const Ref held = Ref::shared(object);  // the variable that holds it may change during the call
      const Value result =
          machine_hooks().call_operator(*proto, proto->operator_call->name, held.address(), 1, 1, nullptr);
      if (!result.is_missing()) {
        return result;
      }
    }
    return thread.call_method_of(object, method, nullptr, 0);
  }
  if (method.is_static && !method.takes_class) {
    return retained(method.function);
  }
  if (method.takes_class && object.is(Kind::kInstance)) {
    object = Value::object(as_object<Instance>(object)->record);
  }
  return Value::object(new BoundMethod(retained(object), retained(method.function)));
}

Value call_with_name(Thread& thread, Value object, const Method& method, Symbol name) {
  const Ref text = Ref::owned(make_text(name_of(name)));
  const Value argument = text.get();
  return thread.call_method_of(object, method, &argument, 1);
}

[[noreturn]] void fail_no_field(Value object, const Record& record, Symbol name) {
  static const Symbol tensor = intern("Tensor");
  const bool is_tensor = record.name == tensor && record.module != nullptr && record.module->is_library;
  fail(name_of(record.name) + " has no field " + name_of(name) +
           (is_tensor ? reason_of_absence("torch.Tensor", name) : ""),
       member_hint(object, name));
}

// Whether the field, which replaces a method of the class once it is assigned, still leaves the name to it.
bool is_unset_replacement(Instance& instance, uint32_t field) {
  return instance.record->fields[field].replaces_method && instance.fields()[field].is_nil();
}

Value field_of_instance(Thread& thread, Value object, Symbol name) {
  auto* instance = as_object<Instance>(object);
  const Record& record = *instance->record;
  if (const Value* attribute = instance->attribute(name)) {
    return retained(*attribute);
  }
  const auto found = record.field_index.find(name);
  if (found != record.field_index.end() && !is_unset_replacement(*instance, found->second)) {
    const Value field = instance->fields()[found->second];
    return has_read_hook(&record, field)
               ? thread.call_method_of(field, *as_object<Instance>(field)->record->on_read, nullptr, 0)
               : retained(field);
  }
  const Method* method = leaves_names(record.direct) ? nullptr : record.find(name);
  if (method != nullptr) {
    return method_as_value(thread, object, *method);
  }
  Record* described = record.plain != nullptr ? record.plain : instance->record;
  if (const Value* value = described->static_value(name)) {
    return retained(*value);
  }
  if (const Value direct = machine_hooks().direct_get(object, name); !direct.is_missing()) {
    return direct;
  }
  static const Symbol hook = intern("__getattr__"), type = intern("__class__"), all = intern("__dict__");
  if (name == type) {
    return retained(Value::object(instance->record));
  }
  if (name == all) {
    return thread.fields_of(object);
  }
  if (const Method* getter = record.find(hook)) {
    return call_with_name(thread, object, *getter, name);
  }
  fail_no_field(object, record, name);
}

Value static_of_type(Value object, Symbol name) {
  auto* type = as_object<Type>(object);
  if (const Value* value = type->static_value(name)) {
    return retained(*value);
  }
  if (type->kind == Kind::kRecord) {  // `Block.expansion`: the constant with which the class body declares it
    const auto* record = static_cast<const Record*>(type);
    const auto field = record->field_index.find(name);
    if (field != record->field_index.end() && record->fields[field->second].has_default &&
        record->fields[field->second].initializer == nullptr) {
      return retained(record->fields[field->second].default_value);
    }
  }
  if (const Method* method = type->find(name)) {
    return method->takes_class ? Value::object(new BoundMethod(retained(object), retained(method->function)))
                               : retained(method->function);
  }
  static const Symbol own_name = intern("__name__");
  if (name == own_name) {
    return make_text(name_of(type->name));
  }
  static const Symbol documentation = intern("__doc__");
  if (name == documentation && type->kind == Kind::kRecord) {
    const DeclInfo* declaration = static_cast<const Record*>(type)->declaration;
    return declaration == nullptr || declaration->doc.empty() ? Value() : make_text(declaration->doc);
  }
  fail(name_of(type->name) + " has no static " + name_of(name), static_hint(*type, name));
}

Value member_of_enum(Value object, Symbol name) {
  const int variant = as_object<Enum>(object)->index_of(name);
  if (variant < 0) {
    return static_of_type(object, name);
  }
  const VariantInfo& info = as_object<Enum>(object)->variants[static_cast<size_t>(variant)];
  return info.arity == 0 ? retained(info.singleton)
                         : Value::object(new BoundMethod(object, Value::integer(variant)));
}

// The following functions return a missing value if the object has no such field.

Value field_of_enum_value(Thread& thread, Value object, Symbol name) {
  auto* value = as_object<EnumValue>(object);
  const auto& names = value->info().field_names;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) {
      return retained(value->payload()[i]);
    }
  }
  if (const Method* method = value->type->find(name)) {
    return method_as_value(thread, object, *method);
  }
  static const Symbol number = intern("value"), own_name = intern("name");
  if (name == own_name) {
    return make_text(name_of(value->info().name));
  }
  return name == number && !value->info().value.is_nil() ? retained(value->info().value) : Value::missing();
}

Value field_of_tuple(const Tuple& tuple, Symbol name) {
  const auto end =
      tuple.names.begin() + static_cast<std::ptrdiff_t>(std::min(tuple.names.size(), tuple.items.size()));
  const auto found = std::find(tuple.names.begin(), end, name);
  return found == end ? Value::missing()
                      : retained(tuple.items[static_cast<size_t>(found - tuple.names.begin())]);
}

Value field_of_function(const std::string& function, Symbol name) {
  static const Symbol own_name = intern("__name__");
  if (name != own_name) {
    return Value::missing();
  }
  return make_text(function == "lambda" ? "<lambda>" : function);
}

Value field_of_closure(const Closure& closure, Symbol name) {
  static const Symbol documentation = intern("__doc__");
  if (name == documentation) {
    const FunctionDecl* declaration = closure.proto->declaration;
    const bool has_text = declaration != nullptr && !declaration->info.doc.empty();
    return has_text ? make_text(declaration->info.doc) : Value();
  }
  return field_of_function(closure.proto->name, name);
}

// `str.upper` is a function of a text. One that changes its receiver would change a copy.
Value field_of_native(const Native& function, Symbol name) {
  const Native* member = member_of_function(function, name);
  if (member == nullptr) {
    return field_of_function(function.name, name);
  }
  if (member->is_method && mutating_names().contains(name)) {
    fail_change_as_value(member->name);
  }
  return retained(Value::object(const_cast<Native*>(member)));
}

Value field_of_slice(const Slice& slice, const std::string& name) {
  return name == "start"  ? retained(slice.start)
         : name == "stop" ? retained(slice.stop)
         : name == "step" ? retained(slice.step)
                          : Value::missing();
}

Value field_of_range(const Range& range, const std::string& name) {
  return name == "start"           ? range.start
         : name == "end"           ? range.end
         : name == "inclusive"     ? Value::boolean(range.inclusive)
         : name == "from_function" ? Value::boolean(range.from_function)
                                   : Value::missing();
}

Value field_of_object(Thread& thread, Value object, Symbol name) {
  switch (object.as_object->kind) {
    case Kind::kInstance:
      return field_of_instance(thread, object, name);
    case Kind::kModule:
      return thread.module_member(*static_cast<LoadedModule*>(object.as_object), name);
    case Kind::kEnum:
      return member_of_enum(object, name);
    case Kind::kRecord:
    case Kind::kTrait:
      return static_of_type(object, name);
    case Kind::kEnumValue:
      return field_of_enum_value(thread, object, name);
    case Kind::kTuple:
      return field_of_tuple(*as_object<Tuple>(object), name);
    case Kind::kClosure:
      return field_of_closure(*as_object<Closure>(object), name);
    case Kind::kNative:
      return field_of_native(*as_object<Native>(object), name);
    case Kind::kSlice:
      return field_of_slice(*as_object<Slice>(object), name_of(name));
    case Kind::kRange:
      return field_of_range(*as_object<Range>(object), name_of(name));
    default:
      return Value::missing();
  }
}

}  // namespace

Value Thread::get_field(Value object, Cache& cache) {
  if (!object.is(Kind::kInstance)) {
    return get_field(object, cache.name);
  }
  const Record* record = as_object<Instance>(object)->record;
  if (record != cache.owner || cache.epoch != method_epoch()) {
    const bool is_field = record->field_index.contains(cache.name) || record->replaces(cache.name);
    const Method* found = is_field || leaves_names(record->direct) ? nullptr : record->find(cache.name);
    if (found == nullptr) {
      return get_field(object, cache.name);
    }
    cache.owner = record;
    cache.method = found;
    cache.epoch = method_epoch();
  }
  return method_as_value(*this, object, *static_cast<const Method*>(cache.method));
}

Value Thread::get_field(Value object, Symbol name) {
  if (object.is_object()) {
    if (const Value field = field_of_object(*this, object, name); !field.is_missing()) {
      return field;
    }
  }
  const Native* native = builtin_method_of(object, name);
  if (native == nullptr) {
    if (const Method* method = extension_method(object, name)) {
      return method_as_value(*this, object, *method);
    }
    fail(type_name(object) + " has no field " + name_of(name), member_hint(object, name));
  }
  if (mutating_names().contains(name) && (object.is(Kind::kArray) || object.is(Kind::kDict))) {
    fail_change_as_value(native->name);
  }
  if (native->min_arguments > 1) {
    return Value::object(new BoundMethod(retained(object), Value::object(const_cast<Native*>(native))));
  }
  Value self = retained(object);
  const Value result = native->fn(*this, &self, 1);
  release(self);
  return result;
}

// The fields of an object by name, in the order in which they were first assigned.
Value Thread::fields_of(Value object) {
  const Ref function = Ref::shared(machine_hooks().library_function("std/python_builtins", "fields_by_name"));
  return call(function.get(), &object, 1);
}

Symbol setter_of(Symbol property) { return intern(name_of(property) + ".setter"); }

namespace {

bool is_of_library(const Method& method) {
  const LoadedModule* module = as_object<Closure>(method.function)->proto->module;
  return module != nullptr && module->is_library;
}

bool is_property(const Method* method) {
  static const Symbol property = intern("property");
  if (method == nullptr) {
    return false;
  }
  const FunctionDecl* declaration = as_object<Closure>(method->function)->proto->declaration;
  return declaration != nullptr &&
         std::any_of(declaration->info.attributes.begin(), declaration->info.attributes.end(),
                     [](const Attribute& each) { return each.name == property; });
}

[[noreturn]] void fail_no_field_to_assign(const Record& record, Symbol name) {
  const std::string& type = name_of(record.name);
  if (record.find(name) != nullptr) {
    fail("'" + name_of(name) + "' of " + type + " is a method and cannot be assigned",
         "to make it a property, add '@" + name_of(name) + ".setter' and 'fn " + name_of(name) + "(value)'");
  }
  fail(type + " has no field " + name_of(name), field_hint(record, name));
}

}  // namespace

namespace {

// Raises the FrozenInstanceError of std.dataclasses.
void fail_frozen(Thread& thread, Symbol name) {
  const Ref function =
      Ref::shared(machine_hooks().library_function("std/python_builtins", "reject_assignment"));
  const Ref text = Ref::owned(make_text(name_of(name)));
  const Value argument = text.get();
  release(thread.call(function.get(), &argument, 1));
}

}  // namespace

// Stores the value under a name that is no field of the class. It replaces a method of that name.
void Thread::set_attribute(Instance& instance, Symbol name, Value owned) {
  Record& record = *instance.record;
  if (record.find(name) != nullptr && record.replaced_methods.insert(name).second) {
    ++method_epoch();
  }
  instance.set_attribute(name, owned);
}

// The value to assign: the class of `old` may replace it (__on_replace__).
Ref Thread::validated_replacement(Value owner, Symbol name, Value old, Value value) {
  if (value.is_object() && value.as_object == old.as_object) {
    return Ref::shared(value);
  }
  const Ref held = Ref::shared(old), text = Ref::owned(make_text(name_of(name)));
  const Value arguments[] = {owner, text.get(), value};
  return Ref::owned(call_method_of(old, *as_object<Instance>(old)->record->on_replace, arguments, 3));
}

namespace {

// Once for each field; a later assignment does not change the order.
void note_order(Instance& instance, uint32_t field) {
  const auto own = static_cast<uint32_t>(instance.record->order_index);
  if (field == own) {
    return;
  }
  Value& noted = instance.fields()[own];
  const bool is_shared =
      noted.is(Kind::kArray) && noted.as_object->refs > 1;  // with the object it is a copy of
  if (!noted.is(Kind::kArray) || is_shared) {
    assign(noted, Value::object(new Array(is_shared ? as_object<Array>(noted)->items.copy() : Elements())));
  }
  Elements& order = as_object<Array>(noted)->items;
  const auto is_field = [&](Value known) { return known.as_int == field; };
  if (std::none_of(order.begin(), order.end(), is_field)) {
    order.push_back(Value::integer(field));
  }
}

}  // namespace

void check_width(const FieldInfo& field, Value& value) {
  if (field.demand != 0) {
    meet(value, field.demand, "'" + name_of(field.name) + "'");
  }
}

// The value as one of the type that the field declares, as arguments are converted.
Ref Thread::as_declared_field(const Record& record, Symbol name, Value value) {
  const auto found = record.field_index.find(name);
  const Symbol type =
      found == record.field_index.end() ? kNoSymbol : record.fields[found->second].convertible;
  if (type == kNoSymbol) {
    return Ref::shared(value);
  }
  const Ref text = Ref::owned(make_text(name_of(type)));
  const Value argument = text.get();
  return Ref::owned(call_method_of(value, *as_object<Instance>(value)->record->as_declared, &argument, 1));
}

void Thread::set_field(Value& object, Symbol name, Value owned) {
  Ref value = Ref::owned(owned);
  if (object.is(Kind::kInstance) && is_foreign_object(value.get())) {
    value = as_declared_field(*as_object<Instance>(object)->record, name, value.get());
  }
  if (object.is(Kind::kInstance)) {
    make_unique(object);
    auto* instance = as_object<Instance>(object);
    const auto found = instance->record->field_index.find(name);
    if (found == instance->record->field_index.end()) {
      static const Symbol hook = intern("__setattr__");
      const Method* method = instance->record->find(hook);
      const Method* setter = instance->record->find(setter_of(name));
      if (setter != nullptr && (method == nullptr || is_of_library(*method))) {
        const Value argument = value.get();
        release(call_method_of(object, *setter, &argument, 1));
        return;
      }
      if (method == nullptr) {
        if (!instance->record->has_attributes || is_property(instance->record->find(name))) {
          fail_no_field_to_assign(*instance->record, name);
        }
        set_attribute(*instance, name, value.take());
        return;
      }
      const Ref text = Ref::owned(make_text(name_of(name)));
      const Value arguments[] = {text.get(), value.get()};
      release(call_method_of(object, *method, arguments, 2));
      return;
    }
    const Ref held = Ref::shared(object);  // the hook may release it
    Value& slot = instance->fields()[found->second];
    if (has_replace_hook(slot)) {
      value = validated_replacement(object, name, slot, value.get());
    }
    if (instance->record->is_frozen) {
      fail_frozen(*this, name);
    }
    if (instance->record->checks_widths) {
      check_width(instance->record->fields[found->second], value.slot());
    }
    if (records_order(instance->record, value.get())) {
      note_order(*instance, found->second);
    }
    assign(slot, value.take());
    return;
  }
  if (object.is(Kind::kModule)) {
    auto* module = static_cast<LoadedModule*>(object.as_object);
    if (module->fixed.contains(name)) {
      fail("'" + name_of(name) + "' of " + module->name + " is a val and cannot be bound again");
    }
    module->define(name, value.take());
    return;
  }
  if (object.is(Kind::kRecord) || object.is(Kind::kEnum) || object.is(Kind::kTrait)) {
    auto* type = as_object<Type>(object);
    if (object.is(Kind::kRecord) && as_object<Record>(object)->field_index.contains(name) &&
        !type->statics.contains(name)) {
      fail("'" + name_of(name) + "' is a field of each " + name_of(type->name) +
               ", and not a variable of the class: objects would not see the assignment",
           "declare it with 'static var " + name_of(name) + "'");
    }
    if (type->is_constant(name) && type->statics.contains(name)) {
      fail(name_of(name) + " is a constant of " + name_of(type->name) + " and cannot be assigned",
           "declare it with `static var` to change it");
    }
    if (const auto demand = type->static_demands.find(name); demand != type->static_demands.end()) {
      meet(value.slot(), demand->second, "'" + name_of(name) + "'");
    }
    Value* const own = type->declared_statics.contains(name) ? type->static_value(name) : nullptr;
    assign(own != nullptr ? *own : type->statics[name], value.take());  // else no longer that of the parent
    return;
  }
  if (object.is(Kind::kTuple)) {
    make_unique(object);
    auto* tuple = as_object<Tuple>(object);
    for (size_t i = 0; i < std::min(tuple->names.size(), tuple->items.size()); ++i) {
      if (tuple->names[i] != name) {
        continue;
      }
      if (has_shape(object)) {
        admit(object, value.slot(), Value::integer(static_cast<int64_t>(i)));
      }
      tuple->items.set(i, value.take());
      return;
    }
  }
  fail(type_name(object) + " has no field " + name_of(name) + " to assign to");
}

}  // namespace spl
