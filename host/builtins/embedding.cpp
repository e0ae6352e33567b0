#include "host/builtins/embedding.h"

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "host/builtins/captured_values.h"
#include "host/builtins/member_tree.h"
#include "host/builtins/plain_values.h"
#include "host/builtins/signatures.h"
#include "host/ffi/extern.h"
#include "host/installation.h"
#include "host/interrupts/interrupts.h"
#include "host/interrupts/scopes.h"
#include "host/modules/loader.h"
#include "host/values/direct_calls.h"
#include "host/values/error.h"
#include "host/vm/event_loop.h"
#include "host/vm/failure.h"
#include "host/vm/generator.h"
#include "host/vm/lock.h"
#include "host/vm/lost_errors.h"
#include "host/vm/signal_check.h"
#include "host/vm/thread.h"
#include "host/vm/threads.h"

namespace spl {

Value element(Value array, size_t at) {
  if (!array.is(Kind::kArray) || as_object<Array>(array)->items.size() <= at) {
    fail("expected an array of values");
  }
  return as_object<Array>(array)->items[at];
}

bool is_compared_by_contents(Value of) {
  return !of.is_object() || of.is(Kind::kEnumValue) ||
         (of.is(Kind::kInstance) && !as_object<Instance>(of)->record->is_class);
}

namespace {

// The module, or its diagnostics as text if it does not compile.
template <class Load>
Value loaded(Load&& load) {
  try {
    return Value::object(&load());
  } catch (const LoadError& error) {
    return make_text(error.report.substr(0, error.report.find_last_not_of('\n') + 1));
  }
}

// Arguments: the source text, the module's name, and an array of alternating names and values to define.
Value module_of_text(Thread&, Value* args, int) {
  if (!args[2].is(Kind::kArray)) {
    fail("expected an array of names and values");
  }
  static int64_t count = 0;
  const std::string name = "<" + expect_text(args[1], "the name") + " " + std::to_string(++count) + ">";
  std::vector<std::pair<Symbol, Value>> values;
  for (size_t i = 0; i + 1 < as_object<Array>(args[2])->items.size(); i += 2) {
    values.emplace_back(intern(expect_text(element(args[2], i), "a name")), element(args[2], i + 1));
  }
  return loaded(
      [&]() -> LoadedModule& { return load_source(name, expect_text(args[0], "the text"), values); });
}

Value module_of_file(Thread&, Value* args, int) {
  const std::string path = std::filesystem::absolute(expect_text(args[0], "the path")).string();
  return loaded(
      [&]() -> LoadedModule& { return is_embedded() ? load_program(path) : load_module_file(path); });
}

// Returns a method as a callable, even one without parameters, and the value of a @property.
Value member(Thread& thread, Value* args, int) {
  const Value of = element(args[0]);
  const Symbol name = intern(expect_text(args[1], "the name"));
  const Method* method = of.is(Kind::kModule) ? nullptr : thread.find_method(of, name);
  return method == nullptr || method->is_static || has_attribute(method->function, "property")
             ? thread.get_field(of, name)
             : Value::object(new BoundMethod(retained(of), retained(method->function)));
}

// Sets a member of the first value to the second one; for a struct, returns a changed copy.
Value with_member(Thread& thread, Value* args, int) {
  const Symbol name = intern(expect_text(args[1], "the name"));
  Value changed = retained(element(args[0]));
  try {
    thread.set_field(changed, name, retained(element(args[0], 1)));
  } catch (...) {
    release(changed);
    throw;
  }
  return changed;
}

// Stores an attribute that the class does not declare: [object, value], name.
Value set_attribute(Thread& thread, Value* args, int) {
  const Value object = element(args[0]);
  const Symbol name = intern(expect_text(args[1], "the name"));
  if (!object.is(Kind::kInstance) || !as_object<Instance>(object)->record->has_attributes) {
    fail(type_name(object) + " has no field " + name_of(name));
  }
  thread.set_attribute(*as_object<Instance>(object), name, retained(element(args[0], 1)));
  return Value();
}

// The fields of a dataclass that is frozen can no longer be assigned.
Value freeze(Thread&, Value* args, int) {
  const Value type = element(args[0]);
  if (!type.is(Kind::kRecord)) {
    fail("rt_freeze: expected a class");
  }
  as_object<Record>(type)->is_frozen = true;
  return Value();
}

// Sets a field of an object, also of a frozen dataclass: [object, value], name. For its initializer.
Value initialize_member(Thread& thread, Value* args, int) {
  const Value object = element(args[0]);
  Record* record = object.is(Kind::kInstance) ? as_object<Instance>(object)->record : nullptr;
  const bool was_frozen = record != nullptr && std::exchange(record->is_frozen, false);
  try {
    release(with_member(thread, args, 2));
  } catch (...) {
    record->is_frozen = was_frozen;
    throw;
  }
  if (record != nullptr) {
    record->is_frozen = was_frozen;
  }
  return Value();
}

// What set_attribute() stored, as a dict.
Value attributes(Thread&, Value* args, int) {
  const Value object = element(args[0]);
  const bool has_any = object.is(Kind::kInstance) && as_object<Instance>(object)->record->has_attributes &&
                       as_object<Instance>(object)->attributes().is(Kind::kDict);
  return has_any ? retained(as_object<Instance>(object)->attributes()) : Value::object(new Dict());
}

void add_names_of(const Type& type, std::vector<Symbol>& names) {
  for (const auto& [name, method] : type.methods) {
    names.push_back(name);
  }
  for (const auto& [name, value] : type.statics) {
    names.push_back(name);
  }
}

std::vector<Symbol> names_in(Value value) {
  std::vector<Symbol> names;
  if (value.is(Kind::kModule)) {
    auto& module = *static_cast<LoadedModule*>(value.as_object);
    for (const Symbol name : module.top_names) {
      if (const Value member = module.member(name);
          !member.is_missing() && !member.is(Kind::kModule) && !module.imports.contains(name)) {
        names.push_back(name);
      }
    }
  } else if (value.is(Kind::kInstance)) {
    const Record& record = *as_object<Instance>(value)->record;
    for (const FieldInfo& field : record.fields) {
      names.push_back(field.name);
    }
    add_names_of(record, names);
  } else if (value.is(Kind::kEnumValue)) {
    names = as_object<EnumValue>(value)->info().field_names;
    add_names_of(*as_object<EnumValue>(value)->type, names);
  } else if (value.is(Kind::kRecord) || value.is(Kind::kTrait) || value.is(Kind::kEnum)) {
    add_names_of(*as_object<Type>(value), names);
  }
  return names;
}

Value members(Thread&, Value* args, int) {
  std::vector<Value> texts;
  for (const Symbol name : names_in(element(args[0]))) {
    texts.push_back(make_text(name_of(name)));
  }
  return make_array(std::move(texts));
}

// The fields of an object as pairs of name and value, in declaration order. If the class has a field
// __order__, fields with objects follow in the order of their first assignment.
Value fields(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  std::vector<Value> pairs;
  if (of.is(Kind::kInstance)) {
    auto* instance = as_object<Instance>(of);
    for (const size_t i : order_of_fields(*instance)) {
      pairs.push_back(make_tuple(
          {make_text(name_of(instance->record->fields[i].name)), retained(instance->fields()[i])}));
    }
  }
  return make_array(std::move(pairs));
}

// A method that a decorator adds to a class which does not declare it: [type, function], name.
Value add_method(Thread&, Value* args, int) {
  const auto& both = as_object<Array>(args[0])->items;
  if (!both[0].is(Kind::kRecord) || !both[1].is(Kind::kClosure)) {
    fail("rt_add_method: expected a class and a function");
  }
  auto* record = as_object<Record>(both[0]);
  const Symbol name = intern(expect_text(args[1], "rt_add_method: the name"));
  if (const Method* own = record->find(name); own != nullptr && own->origin != Origin::kDefault) {
    return Value();  // not that of a parent
  }
  record->add(name, Method{retained(both[1])});
  record->cache_hooks();
  ++method_epoch();
  return Value();
}

// The defaults of the fields of a class, each an array of name and value. Expressions are evaluated.
Value field_defaults(Thread& thread, Value* args, int) {
  const Value type = element(args[0]);
  if (!type.is(Kind::kRecord)) {
    fail("rt_field_defaults: expected a class");
  }
  const Ref found = Ref::owned(make_array({}));
  for (const FieldInfo& field : as_object<Record>(type)->fields) {
    if (!field.has_default) {
      continue;
    }
    Ref value = Ref::shared(field.default_value);
    if (field.initializer != nullptr) {
      const Ref closure = Ref::owned(make_closure(field.initializer));
      value = Ref::owned(thread.call(closure.get(), nullptr, 0));
    }
    as_object<Array>(found.get())
        ->items.push_back(make_array({make_text(name_of(field.name)), value.take()}));
  }
  return retained(found.get());
}

Value captured(Thread&, Value* args, int) { return make_array(captured_values(element(args[0]))); }

// A shallow copy of an object. No initializer runs. An enum's value does not change: it is its own copy.
Value shallow_copy(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  if (of.is(Kind::kEnumValue)) {
    return retained(of);
  }
  if (!of.is(Kind::kInstance)) {
    fail("rt_shallow_copy: argument must be an object of a class, got " + type_name(of));
  }
  auto* instance = as_object<Instance>(of);
  if (instance->record->drop != nullptr) {
    fail(type_name(of) + " cannot be copied: its drop() would release the resource twice");
  }
  Instance* copy = new_instance(instance->record);
  for (size_t i = 0; i < instance->record->slot_count(); ++i) {
    copy->fields()[i] = retained(instance->fields()[i]);
  }
  return Value::object(copy);
}

// The object of a bound method, in an array; an empty array for other values.
Value receiver(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  return of.is(Kind::kBoundMethod) ? make_array({retained(static_cast<BoundMethod*>(of.as_object)->self)})
                                   : make_array({});
}

// The method of another object of the same class.
Value rebind(Thread&, Value* args, int) {
  const Value of = element(args[0]), object = element(args[0], 1);
  if (!of.is(Kind::kBoundMethod)) {
    fail("rt_rebind: the first argument must be a bound method, got " + type_name(of));
  }
  const auto* method = static_cast<BoundMethod*>(of.as_object);
  return Value::object(new BoundMethod(retained(object), retained(method->function)));
}

// The same enum value with an attachment.
Value attach(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  if (!of.is(Kind::kEnumValue)) {
    fail("rt_attach: the first argument must be a value of an enum, got " + type_name(of));
  }
  auto* value = as_object<EnumValue>(of);
  EnumValue* copy = new_enum_value(value->type, value->variant, true);
  for (uint32_t i = 0; i < value->info().arity; ++i) {
    copy->payload()[i] = retained(value->payload()[i]);
  }
  copy->attachment() = retained(element(args[0], 1));
  return Value::object(copy);
}

// Nil without one.
Value attachment(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  return of.is(Kind::kEnumValue) && as_object<EnumValue>(of)->has_attachment
             ? retained(as_object<EnumValue>(of)->attachment())
             : Value();
}

// Changes the class of an object to a subclass without additional fields.
Value become(Thread&, Value* args, int) {
  const Value of = element(args[0]), type = element(args[0], 1);
  if (!of.is(Kind::kInstance) || !type.is(Kind::kRecord)) {
    fail("rt_become: arguments must be an object and a class, got " + type_name(of) + " and " +
         type_name(type));
  }
  Record*& own = as_object<Instance>(of)->record;
  auto* wanted = as_object<Record>(type);
  const bool is_child = wanted == own || std::find(wanted->parents.begin(), wanted->parents.end(), own) !=
                                             wanted->parents.end();
  const auto same = [](const FieldInfo& a, const FieldInfo& b) { return a.name == b.name; };
  if (!is_child || !std::equal(own->fields.begin(), own->fields.end(), wanted->fields.begin(),
                               wanted->fields.end(), same)) {
    fail(type_name(of) + " cannot become " + name_of(wanted->name) +
         ": it must be a subclass without additional fields");
  }
  wanted->has_objects = true;
  own = wanted;
  return retained(of);
}

// The first argument is a value or a class.
Value has_method(Thread& thread, Value* args, int) {
  const Value of = element(args[0]);
  const Symbol name = intern(expect_text(args[1], "the name"));
  return Value::boolean(of.is(Kind::kRecord) ? as_object<Record>(of)->find(name) != nullptr
                                             : thread.find_method(of, name) != nullptr);
}

// The argument is an array with the resource of a `with` and a Failure or nil.
Value exit_handles(Thread& thread, Value* args, int) {
  const auto* pair = args[0].is(Kind::kArray) ? as_object<Array>(args[0]) : nullptr;
  const Method* exit = nullptr;
  if (pair != nullptr && pair->items.size() == 2) {
    exit = thread.find_method(pair->items[0], intern("__exit__"));
  }
  if (exit == nullptr) {
    fail("rt_exit_handles: expected an object with __exit__ and a failure");
  }
  return Value::boolean(thread.exit_handles(pair->items[0], *exit, pair->items[1]));
}

Value has_member(Thread& thread, Value* args, int) {
  const Symbol name = intern(expect_text(args[1], "the name"));
  const std::vector<Symbol> names = names_in(element(args[0]));
  return Value::boolean(
      std::find(names.begin(), names.end(), name) != names.end() ||
      (!element(args[0]).is(Kind::kModule) && thread.find_method(element(args[0]), name) != nullptr));
}

// The declared name, also of the function of a generator; "function" for other callables.
Value function_name(Thread&, Value* args, int) {
  Value function = element(args[0]);
  if (function.is(Kind::kBoundMethod)) {
    function = static_cast<BoundMethod*>(function.as_object)->function;
  }
  if (function.is(Kind::kGenerator)) {
    function = as_object<Generator>(function)->closure;
  }
  return make_text(function.is(Kind::kClosure) ? as_object<Closure>(function)->proto->name : "function");
}

// The global variable of a module; missing if there is none.
Value shown_by(const LoadedModule& module, Symbol name) {
  const auto slot = module.names.find(name);
  return slot == module.names.end() ? Value::missing() : module.slots[slot->second];
}

// Where another process finds the value: the file of a module, or the file and name of a function or type. An
// empty array for other values.
Value home(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  const LoadedModule* module = nullptr;
  std::string name;
  if (of.is(Kind::kModule)) {
    module = static_cast<LoadedModule*>(of.as_object);
  } else if (of.is(Kind::kClosure)) {
    module = as_object<Closure>(of)->proto->module;
    name = as_object<Closure>(of)->proto->name;
  } else if (of.is(Kind::kRecord) || of.is(Kind::kEnum)) {
    module = as_object<Type>(of)->module;
    name = name_of(as_object<Type>(of)->name);
  }
  const bool is_nameless = of.is(Kind::kModule) || name.empty();
  if (module == nullptr || module->is_library || module->file.empty() ||
      (!is_nameless && !module->top_names.contains(intern(name)))) {
    return make_array({});
  }
  if (of.is(Kind::kModule)) {
    return make_array({make_text(module->file)});
  }
  const Value shown = shown_by(*module, intern(name));
  return shown.is_object() && shown.as_object == of.as_object
             ? make_array({make_text(module->file), make_text(name)})
             : make_array({});
}

// The canonical path of the file that the host was started with; empty without one.
Value program_file_fn(Thread&, Value*, int) { return make_text(program_path()); }

// The class of an object, or the enum of a value; nil for other values.
Value class_of_value(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  if (of.is(Kind::kInstance)) {
    return retained(Value::object(as_object<Instance>(of)->record));
  }
  return of.is(Kind::kEnumValue) ? retained(Value::object(as_object<EnumValue>(of)->type)) : Value();
}

// A new object of a class whose fields are nil. No initializer runs.
Value blank_object(Thread&, Value* args, int) {
  const Value type = element(args[0]);
  if (!type.is(Kind::kRecord) || as_object<Record>(type)->drop != nullptr ||
      as_object<Record>(type)->foreign.is_object()) {
    fail("an object of " + display(type) + " cannot be created without its constructor");
  }
  return Value::object(new_instance(as_object<Record>(type)));
}

// The variant of an enum value, and the values of its fields.
Value variant_parts(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  if (!of.is(Kind::kEnumValue)) {
    fail("rt_variant_parts: expected an enum value, got " + type_name(of));
  }
  auto* value = as_object<EnumValue>(of);
  std::vector<Value> parts{make_text(name_of(value->info().name))};
  for (uint32_t i = 0; i < value->info().arity; ++i) {
    parts.push_back(retained(value->payload()[i]));
  }
  return make_array(std::move(parts));
}

// Whether the first value is an instance of the second one, a type.
Value is_of(Thread&, Value* args, int) {
  const Value of = element(args[0], 1);
  const bool is_type = of.is(Kind::kRecord) || of.is(Kind::kTrait) || of.is(Kind::kEnum);
  return Value::boolean(is_type && is_of_type(element(args[0]), as_object<Type>(of)));
}

// Whether two values are the same object.
Value is_same(Thread&, Value* args, int) {
  const Value a = element(args[0]), b = element(args[0], 1);
  return Value::boolean(a.is_object() && b.is_object() && a.as_object == b.as_object);
}

// A variant without fields has one value in the program.
bool is_variant_without_values(Value of) {
  return of.is(Kind::kEnumValue) && as_object<EnumValue>(of)->info().arity == 0;
}

// The address of an object; 0 for values of which others may be equal.
Value identity(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  const bool has_identity = is_variant_without_values(of) || !is_compared_by_contents(of);
  const auto address = has_identity ? reinterpret_cast<uintptr_t>(of.as_object) : 0;
  return Value::integer(static_cast<int64_t>(address));
}

// A number for the class of an object or the type of an enum value; 0 for other values.
Value class_identity(Thread&, Value* args, int) {
  const Value of = element(args[0]);
  const void* type = of.is(Kind::kInstance)    ? static_cast<const void*>(as_object<Instance>(of)->record)
                     : of.is(Kind::kEnumValue) ? static_cast<const void*>(as_object<EnumValue>(of)->type)
                                               : nullptr;
  return Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(type)));
}

// In an embedded host, exit(code) and an interrupt return Err(code), an integer; so does an interrupt that
// does not end the program.
template <class Body>
Value up_to_exit(Body&& body) {
  try {
    return body();
  } catch (const ExitRequest& request) {
    if (!is_embedded() && !(request.by_interrupt && InterruptsAllowed::is_this_thread())) {
      throw;
    }
    return make_err(Value::integer(request.code));
  }
}

// As attempt().
Value attempt_to_end(Thread& thread, Value* args, int) {
  return up_to_exit([&] { return attempted(thread, element(args[0])); });
}

bool are_plain_kinds(Value kinds) {
  return kinds.is(Kind::kText) && text_of(kinds).find_first_not_of('v') == std::string::npos;
}

// The same for a call by native code: of the function `args[0][0]`, with the kinds, values and names of its
// arguments. A plain result becomes ["v", result]. nil, without a call, if an argument is not plain or has a
// name.
Value attempt_packed(Thread& thread, Value* args, int) {
  static const Value plain_kind = make_text("v");
  const auto& values = as_object<Array>(args[2])->items;
  if (!are_plain_kinds(args[1]) || !as_object<Array>(args[3])->items.empty()) {
    return Value();
  }
  return up_to_exit([&] {
    Ref result;
    try {
      result = Ref::owned(thread.call(element(args[0]), values.data(), static_cast<int>(values.size())));
    } catch (const SimpleError& error) {
      return make_err(to_failure(error));
    }
    return is_plain(result.get()) ? make_array({retained(plain_kind), result.take()})
                                  : make_ok(result.take());
  });
}

// As attempt(), but an interrupt stops the call instead of the program and returns Err(nil).
Value attempt_interruptible(Thread& thread, Value* args, int) {
  const InterruptsAllowed allowed;
  try {
    Ref outcome = Ref::owned(attempted(thread, element(args[0])));
    // It may have arrived after the last safepoint.
    return may_be_interrupted() && take_interrupt() ? make_err(Value()) : outcome.take();
  } catch (const ExitRequest& request) {
    if (!request.by_interrupt) {
      throw;
    }
    return make_err(Value());
  }
}

// The arguments are a class with direct calls and a handle. Calls that return the handle return nil. Handles
// that are never released, such as Python's None, need no instance.
Value set_nil_handle(Thread&, Value* args, int) {
  const Value type = element(args[0]);
  if (!type.is(Kind::kRecord) || as_object<Record>(type)->direct == nullptr || !args[1].is_int()) {
    fail("rt_set_nil_handle: expected a class with direct calls and a handle");
  }
  as_object<Record>(type)->direct->nil_handle = args[1].as_int;
  return Value();
}

// The arguments are a class with direct calls and the name of an extern function of its module. Handles for
// which that function returns another number than 0 stand for values of the program.
Value set_own_key(Thread&, Value* args, int) {
  const Value type = element(args[0]);
  Record* record = type.is(Kind::kRecord) ? as_object<Record>(type) : nullptr;
  const Value found =
      record == nullptr ? Value() : record->module->lookup(intern(expect_text(args[1], "the name")));
  if (record == nullptr || record->direct == nullptr || !found.is(Kind::kExtern)) {
    fail("rt_set_own_key: expected a class with direct calls and the name of an extern function");
  }
  void* const address = address_of(*as_object<Extern>(found));
  std::atomic_ref(record->direct->own_key)
      .store(reinterpret_cast<int64_t (*)(int64_t)>(address), std::memory_order_release);
  return Value();
}

// The function runs at safepoints when a signal arrived that native code handles.
Value on_signal(Thread&, Value* args, int) {
  set_signal_check(element(args[0]));
  return Value();
}

// The function receives the prompts of input() and returns lines; nil: standard input.
Value on_input(Thread&, Value* args, int) {
  set_line_reader(element(args[0]));
  return Value();
}

// The function receives a Failure that no code can catch, and its place. It returns whether it reported it.
Value on_lost_error(Thread&, Value* args, int) {
  set_lost_error_function(element(args[0]));
  return Value();
}

// ---- coroutines of an event loop

Value on_event_loop(Thread&, Value* args, int) {
  set_event_loop_functions(element(args[0]), element(args[0], 1));
  return Value();
}
Value in_coroutine(Thread& thread, Value* args, int) { return run_on_event_loop(thread, element(args[0])); }
Value run_task(Thread&, Value* args, int) {
  run_future_in_task(element(args[0]));
  return Value();
}
Value end_task(Thread&, Value* args, int) {
  end_future_without_run(element(args[0]));
  return Value();
}

constexpr NativeEntry kExterns[] = {
    {"rt_module_of_text", module_of_text, 3, 3},
    {"rt_module_of_file", module_of_file, 1, 1},
    {"rt_member", member, 2, 2},
    {"rt_with_member", with_member, 2, 2},
    {"rt_freeze", freeze, 1, 1},
    {"rt_initialize_member", initialize_member, 2, 2},
    {"rt_set_attribute", set_attribute, 2, 2},
    {"rt_attributes", attributes, 1, 1},
    {"rt_members", members, 1, 1},
    {"rt_fields", fields, 1, 1},
    {"rt_add_method", add_method, 2, 2},
    {"rt_field_defaults", field_defaults, 1, 1},
    {"rt_reached", captured, 1, 1},
    {"rt_shallow_copy", shallow_copy, 1, 1},
    {"rt_receiver", receiver, 1, 1},
    {"rt_rebind", rebind, 1, 1},
    {"rt_attach", attach, 1, 1},
    {"rt_attachment", attachment, 1, 1},
    {"rt_become", become, 1, 1},
    {"rt_has_member", has_member, 2, 2},
    {"rt_has_method", has_method, 2, 2},
    {"rt_exit_handles", exit_handles, 1, 1},
    {"rt_function_name", function_name, 1, 1},
    {"rt_home", home, 1, 1},
    {"rt_class_of", class_of_value, 1, 1},
    {"rt_program_file", program_file_fn, 0, 0},
    {"rt_blank_object", blank_object, 1, 1},
    {"rt_variant_parts", variant_parts, 1, 1},
    {"rt_is_of", is_of, 1, 1},
    {"rt_set_nil_handle", set_nil_handle, 2, 2},
    {"rt_set_own_key", set_own_key, 2, 2},
    {"rt_is_same", is_same, 1, 1},
    {"rt_identity", identity, 1, 1},
    {"rt_class_identity", class_identity, 1, 1},
    {"rt_attempt_to_end", attempt_to_end, 1, 1},
    {"rt_attempt_packed", attempt_packed, 4, 4},
    {"rt_attempt_interruptible", attempt_interruptible, 1, 1},
    {"rt_on_signal", on_signal, 1, 1},
    {"rt_on_input", on_input, 1, 1},
    {"rt_on_lost_error", on_lost_error, 1, 1},
    {"rt_on_event_loop", on_event_loop, 1, 1},
    {"rt_in_coroutine", in_coroutine, 1, 1},
    {"rt_run_task", run_task, 1, 1},
    {"rt_end_task", end_task, 1, 1},
};

}  // namespace

std::span<const NativeEntry> embedding_externs() { return kExterns; }

}  // namespace spl
