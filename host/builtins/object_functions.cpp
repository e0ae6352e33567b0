// Python's functions for types and members, and round().
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "host/builtins/builtins.h"
#include "host/compiler/type_names.h"
#include "host/modules/loader.h"
#include "host/values/arithmetic.h"
#include "host/values/direct_calls.h"
#include "host/values/module.h"
#include "host/vm/method_order.h"
#include "host/vm/patterns.h"
#include "host/vm/protocols.h"
#include "host/vm/thread.h"
#include "host/vm/type_links.h"

namespace spl {

namespace {

// As in Python, an instance may state another class than its own by a method __class__: a caught error does.
bool states_class(Value v, const Type* type) {
  static const Symbol hook = intern("__class__");
  const Method* method = v.is(Kind::kInstance) ? current_thread().find_method(v, hook) : nullptr;
  if (method == nullptr) {
    return false;
  }
  const Ref stated = Ref::owned(current_thread().call_method_of(v, *method, nullptr, 0));
  if (!stated.get().is(Kind::kRecord)) {
    return false;
  }
  const auto& parents = as_object<Record>(stated.get())->parents;
  return stated.get().as_object == type || std::find(parents.begin(), parents.end(), type) != parents.end();
}

bool is_instance_of(Value v, Value type) {
  if (type.is(Kind::kTuple)) {
    for (const Value one : as_object<Tuple>(type)->items) {
      if (is_instance_of(v, one)) {
        return true;
      }
    }
    return false;
  }
  if (type.is(Kind::kRecord) || type.is(Kind::kTrait) || type.is(Kind::kEnum)) {
    return is_of_type(v, as_object<Type>(type)) || states_class(v, as_object<Type>(type));
  }
  if (type.is(Kind::kNative)) {  // the conversion function of a built-in type: i64, text, list …
    const std::string_view name = builtin_type(as_object<Native>(type)->name);
    if (!name.empty()) {
      return is_of_type(v, intern(std::string(name)));
    }
  }
  if (type.is(Kind::kInstance)) {
    return is_of_foreign_class(v, type);
  }
  fail("isinstance(): the second argument must be a type or a tuple of types, got " + type_name(type));
}
// What the parser makes of `type(x) == T`, where T is a built-in type.
Value is_type_fn(Thread&, Value* args, int) { return Value::boolean(is_instance_of(args[0], args[1])); }

bool includes_int(Value type) {
  if (type.is(Kind::kTuple)) {
    const auto& items = as_object<Tuple>(type)->items;
    return std::any_of(items.begin(), items.end(), includes_int);
  }
  return type.is(Kind::kNative) && std::string_view(as_object<Native>(type)->name) == "int";
}

// Python's bool is a subclass of int.
Value isinstance_fn(Thread&, Value* args, int) {
  const bool is_integer = args[0].is_bool() && includes_int(args[1]);
  return Value::boolean(is_instance_of(args[0], args[1]) || is_integer);
}

bool is_subclass(Value type, Value of) {
  if (of.is(Kind::kTuple)) {
    const auto& parents = as_object<Tuple>(of)->items;
    return std::any_of(parents.begin(), parents.end(), [&](Value one) { return is_subclass(type, one); });
  }
  static const Symbol integer = intern("int"), boolean = intern("bool");
  if (type.is(Kind::kRecord) && (of.is(Kind::kRecord) || of.is(Kind::kTrait))) {
    const auto& parents = as_object<Record>(type)->parents;
    return type.as_object == of.as_object ||
           std::find(parents.begin(), parents.end(), as_object<Type>(of)) != parents.end();
  }
  if (type.is(Kind::kNative) && of.is(Kind::kNative)) {
    const std::string_view one = as_object<Native>(type)->name, other = as_object<Native>(of)->name;
    return one == other || (one == name_of(boolean) && other == name_of(integer));
  }
  return type.as_object == of.as_object;
}
// issubclass(type, of): of a class, or of any in a tuple of classes.
Value issubclass_fn(Thread&, Value* args, int) {
  if (!args[0].is(Kind::kRecord) && !args[0].is(Kind::kNative) && !args[0].is(Kind::kEnum)) {
    fail_arguments("issubclass(): the first argument must be a class, got " + type_name(args[0]));
  }
  return Value::boolean(is_subclass(args[0], args[1]));
}

// callable(x): a function, a class, or an object with __call__().
Value callable_fn(Thread& thread, Value* args, int) {
  static const Symbol hook = intern("__call__");
  const Value of = args[0];
  const bool is_function = of.is(Kind::kClosure) || of.is(Kind::kNative) || of.is(Kind::kBoundMethod) ||
                           of.is(Kind::kRecord) || of.is(Kind::kEnum);
  return Value::boolean(is_function || (of.is(Kind::kInstance) && thread.find_method(of, hook) != nullptr));
}

// The member, or a missing value. A method is returned as a bound method, as in Python.
Value member_or_missing(Thread& thread, Value of, Symbol name) {
  const bool is_foreign = of.is(Kind::kInstance) && leaves_names(as_object<Instance>(of)->record->direct);
  const Method* method = of.is(Kind::kModule) || is_foreign ? nullptr : thread.find_method(of, name);
  if (method != nullptr && !method->is_static) {
    return Value::object(new BoundMethod(retained(of), retained(method->function)));
  }
  try {
    return thread.get_field(of, name);
  } catch (const SimpleError&) {
    return Value::missing();
  }
}
Value hasattr_fn(Thread& thread, Value* args, int) {
  const Value member = member_or_missing(thread, args[0], intern(expect_text(args[1], "the name")));
  release(member);
  return Value::boolean(!member.is_missing());
}
Value getattr_fn(Thread& thread, Value* args, int count) {
  const Symbol name = intern(expect_text(args[1], "the name"));
  const Value member = member_or_missing(thread, args[0], name);
  if (!member.is_missing()) {
    return member;
  }
  return count > 2 ? retained(args[2]) : thread.get_field(args[0], name);  // fails with the reason
}
bool has_place_for(const Record& record, Symbol name) {
  static const Symbol hook = intern("__setattr__");
  return record.has_attributes || record.field_index.contains(name) || record.find(name) != nullptr ||
         record.find(hook) != nullptr || record.find(setter_of(name)) != nullptr;
}
Value setattr_fn(Thread& thread, Value* args, int) {
  const Symbol name = intern(expect_text(args[1], "the name"));
  const bool is_value = args[0].is(Kind::kInstance) && !as_object<Instance>(args[0])->record->is_class;
  if (is_value) {
    fail("setattr(): a struct is a value, so that only a copy would change; assign the field");
  }
  if (args[0].is(Kind::kInstance) && !has_place_for(*as_object<Instance>(args[0])->record, name)) {
    const std::string& type = name_of(as_object<Instance>(args[0])->record->name);
    fail("setattr(): " + type + " has no field " + name_of(name),
         "declare '" + name_of(name) + ": any = nil' in the class, or define __setattr__");
  }
  thread.set_field(args[0], name, retained(args[2]));
  return Value();
}

// The closest multiple of 10 to the power of `zeros`, the even one of two.
Value rounded_to_tens(Value number, int64_t zeros) {
  if (!number.is_int()) {
    const double unit = std::pow(10.0, static_cast<double>(zeros));
    return Value::number(std::nearbyint(to_number(number) / unit) * unit);
  }
  constexpr int64_t kMaxZeros = 18;  // 10 ** 19 is no i64
  if (zeros > kMaxZeros) {
    return Value::integer(0);
  }
  int64_t unit = 1;
  for (int64_t i = 0; i < zeros; ++i) {
    unit *= 10;
  }
  const int64_t rest = number.as_int % unit, whole = number.as_int - rest;
  const int64_t size = std::abs(rest), half = unit / 2;
  const bool is_up = size > half || (size == half && (whole / unit) % 2 != 0);
  return number_arithmetic(BinaryOp::kAdd, Value::integer(whole),
                           Value::integer(!is_up     ? 0
                                          : rest < 0 ? -unit
                                                     : unit));
}

// round(x) is the closest integer, the even one of two; round(x, digits) is a float.
Value round_fn(Thread& thread, Value* args, int count) {
  if (args[0].is_object()) {
    static const Symbol round = intern("round"), hook = intern("__round__");
    const bool has_hook = thread.find_method(args[0], hook) != nullptr;
    return thread.call_method(args[0], has_hook ? hook : round, args + 1, count - 1);
  }
  if (count == 1 || args[1].is_nil()) {
    const double rounded = std::nearbyint(to_number(args[0]));
    if (!(std::fabs(rounded) < 9.2e18)) {
      fail("round(): cannot convert " + display(args[0]) + " to an integer");
    }
    return args[0].is_int() ? args[0] : Value::integer(static_cast<int64_t>(rounded));
  }
  const int64_t digits = to_integer(args[1]);
  if (digits < -300 || digits > 300) {
    fail("round(): the number of digits must be from -300 to 300, got " + display(args[1]));
  }
  if (digits < 0) {
    return rounded_to_tens(args[0], -digits);
  }
  char text[700];
  std::snprintf(text, sizeof(text), "%.*f", static_cast<int>(digits), to_number(args[0]));
  return Value::number(std::strtod(text, nullptr));
}

// `super().name` without a call, in a method of the class statement with the key `args[0]` and the first
// parent `args[1]`: the attribute args[3] of `args[2]`, as the next class has it.
Value super_attribute(Thread& thread, Value* args, int) {
  const Symbol name = intern(expect_text(args[3], "the name"));
  if (args[1].is(Kind::kInstance)) {
    const Ref next = Ref::owned(thread.super_of(args[1], args[0], &args[2]));
    return thread.get_field(next.get(), name);
  }
  const Value next = next_class(args[1], args[0].as_int, args[2], name);
  const bool is_type = next.is(Kind::kRecord) || next.is(Kind::kTrait);
  const Method* method = is_type ? as_object<Type>(next)->find(name) : nullptr;
  if (method == nullptr) {  // a field, of which an object has one
    return thread.get_field(args[2], name);
  }
  if (method->is_static && !method->takes_class) {
    return retained(method->function);
  }
  if (!method->is_static && as_object<Closure>(method->function)->proto->required <= 1) {
    return thread.call_method_of(args[2], *method, nullptr, 0);  // a property
  }
  return Value::object(new BoundMethod(retained(args[2]), retained(method->function)));
}

// What the parser makes of `xs.append` as a value: args[2] changes the variable `xs`, an array or a dict. Of
// other objects the method is their own.
Value method_fn(Thread& thread, Value* args, int) {
  const bool is_collection = args[0].is(Kind::kArray) || args[0].is(Kind::kDict);
  return is_collection ? retained(args[2])
                       : thread.get_field(args[0], intern(expect_text(args[1], "the name")));
}

// __delegate__(iterable): what `yield from` runs, a Delegate of std.delegation.
Value delegate_fn(Thread& thread, Value* args, int) {
  return thread.call(library_function("std/delegation", "delegate"), args, 1);
}

// What a method of an object of another language returns; other values unchanged.
Value adapted(Thread& thread, Value value, Symbol name) {
  const Method* method = value.is(Kind::kInstance) ? as_object<Instance>(value)->record->find(name) : nullptr;
  return method == nullptr ? retained(value) : thread.call_method_of(value, *method, nullptr, 0);
}
Value async_items(Thread& thread, Value* args, int) {
  static const Symbol name = intern("__async_items__");
  return adapted(thread, args[0], name);
}
Value async_manager(Thread& thread, Value* args, int) {
  static const Symbol name = intern("__async_manager__");
  return adapted(thread, args[0], name);
}

// The elements of a value for targets of which one, `*rest`, collects those that the `before` and `after`
// others leave.
Value starred(Thread& thread, Value* args, int) {
  const Ref elements = Ref::owned(thread.collected(args[0]));
  const auto& items = as_object<Tuple>(elements.get())->items;
  const auto before = static_cast<size_t>(args[1].as_int), after = static_cast<size_t>(args[2].as_int);
  if (items.size() < before + after) {
    fail("cannot destructure " + std::to_string(items.size()) + " values into at least " +
         std::to_string(before + after));
  }
  std::vector<Value> parts, rest;
  for (size_t i = 0; i < items.size(); ++i) {
    const bool is_collected = i >= before && i < items.size() - after;
    (is_collected ? rest : parts).push_back(retained(items[i]));
  }
  parts.insert(parts.begin() + static_cast<ptrdiff_t>(before), make_array(std::move(rest)));
  return make_tuple(std::move(parts));
}

// `spawn e`: the reference of an actor.
Value spawn_actor(Thread& thread, Value* args, int) {
  return thread.call(library_function("std/actors", "spawn_actor"), args, 1);
}

// What the parser makes of `random.shuffle(xs)`.
Value can_shuffle(Thread& thread, Value* args, int) {
  if (!args[1].is(Kind::kArray)) {
    return Value::boolean(false);
  }
  return thread.call(library_function("std/random", "can_shuffle"), args, 2);
}
Value shuffled_fn(Thread& thread, Value* args, int) {
  return thread.call(library_function("std/random", "shuffled_by"), args, 2);
}

// __caught__(classes): what a `try` statement catches, a Caught of std.exceptions.
Value caught_fn(Thread& thread, Value* args, int) {
  return thread.call(library_function("std/exceptions", "caught"), args, 1);
}

// __raise__(error, cause): fails with an error that a `try` statement has caught, or with a value.
Value raise_fn(Thread& thread, Value* args, int count) {
  const char* function = count == 1 ? "raise_again" : "raise_from";
  return thread.call(library_function("std/exceptions", function), args, count);
}

// __become__(object, value): `self = value` in a method of a class. The object gets the fields of the value.
Value become_fn(Thread& thread, Value* args, int) {
  const Value object = args[0], value = args[1];
  const Record* record = as_object<Instance>(object)->record;
  if (!value.is(Kind::kInstance) || as_object<Instance>(value)->record != record) {
    fail("cannot assign " + type_name(value) + " to 'self', which is a " + type_name(object));
  }
  if (record->drop != nullptr) {
    fail("cannot assign to 'self' of " + type_name(object) + ": its drop() would release the resource twice",
         "assign its fields");
  }
  const Ref held = Ref::shared(value);
  Ref target = Ref::shared(object);
  for (size_t i = 0; i < record->fields.size(); ++i) {
    thread.set_field(target.slot(), record->fields[i].name,
                     retained(as_object<Instance>(value)->fields()[i]));
  }
  return Value();
}

// What the parser and the compiler make of `try`, `raise`, `spawn`, `async for` and `async with`, and of
// `super()` without a call of a method.
const NativeEntry kSyntaxFunctions[] = {
    {"__async_items__", async_items, 1, 1}, {"__async_manager__", async_manager, 1, 1},
    {"__caught__", caught_fn, 1, 1},        {"__raise__", raise_fn, 1, 2},
    {"__starred__", starred, 3, 3},         {"__super_attribute__", super_attribute, 4, 4},
    {"__spawn__", spawn_actor, 1, 1},       {"__method__", method_fn, 3, 3},
    {"__delegate__", delegate_fn, 1, 1},    {"__is_type__", is_type_fn, 2, 2},
    {"__can_shuffle__", can_shuffle, 2, 2}, {"__shuffled__", shuffled_fn, 2, 2},
    {"__become__", become_fn, 2, 2},
};

const NativeEntry kObjectFunctions[] = {
    {"isinstance", isinstance_fn, 2, 2}, {"hasattr", hasattr_fn, 2, 2}, {"getattr", getattr_fn, 2, 3},
    {"setattr", setattr_fn, 3, 3},       {"round", round_fn, 1, 2},     {"callable", callable_fn, 1, 1},
    {"issubclass", issubclass_fn, 2, 2},
};

}  // namespace

void install_object_functions() {
  add_functions(kSyntaxFunctions);
  add_functions(kObjectFunctions);
}

}  // namespace spl
