// Calls of functions, methods and callable objects.
#include <algorithm>
#include <array>

#include "host/values/direct_calls.h"
#include "host/values/module.h"
#include "host/values/object_hooks.h"
#include "host/values/spelling_suggester.h"
#include "host/vm/generator.h"
#include "host/vm/hints.h"
#include "host/vm/machine_hooks.h"
#include "host/vm/native_window.h"
#include "host/vm/natives.h"
#include "host/vm/thread.h"
#include "host/vm/threads.h"

namespace spl {

namespace {
constexpr uint32_t kStackSlots = 1u << 20;
}

void Thread::check_stack(uint32_t upper) const {
  if (upper < kStackSlots && frame_count_ + 1 < max_frames_) {
    return;
  }
  throw too_deep();
}

void Thread::push_frame(Closure* closure, uint32_t base, uint32_t result, int32_t lvalue_index) {
  const Proto* proto = closure->proto;
  check_stack(base + proto->registers);
  Frame& frame = frames_[frame_count_++];
  frame.proto = proto;
  frame.pc = proto->entry();
  frame.base = base;
  frame.result = result;
  frame.closure = closure;
  frame.lvalue_index = lvalue_index;
  frame.defers = static_cast<uint32_t>(defers_.size());
}

// Releases what is left in the window, then stores the result in its first register.
void Thread::finish_window(uint32_t result, uint32_t first, uint32_t count, Value owned) {
  for (uint32_t i = first; i < first + count; ++i) {
    const Value old = std::exchange(stack_[i], Value());
    release(old);
  }
  assign(stack_[result], owned);
}

void Thread::check_count(const Native& native, uint32_t count) const {
  if (static_cast<int>(count) < native.min_arguments ||
      (native.max_arguments >= 0 && static_cast<int>(count) > native.max_arguments)) {
    const int self = native.is_method ? 1 : 0;  // not counted in the message
    fail_arguments(std::string(native.name) + " " +
                   wrong_count(native.min_arguments - self,
                               native.max_arguments < 0 ? -1 : native.max_arguments - self, count - self));
  }
}

// The function to call for the arguments above the window's first register, and their number. Named arguments
// become a dict before the others. `leading`: 1 if the first register is the receiver, 0 if it is the callee.
NativeFn Thread::function_for(const Native& native, uint32_t window, uint32_t& count, uint32_t leading,
                              const CallSpec* spec) {
  Ref named;
  if (spec != nullptr) {
    count = flatten(window + 1, count, *spec, named);
  }
  if (named.get().is_nil()) {
    check_count(native, count + leading);
    return native.fn;
  }
  if (native.with_names == nullptr) {
    fail_arguments(std::string(native.name) + "(): there is no parameter " +
                   display(as_object<Dict>(named.get())->entries.front().key));
  }
  for (uint32_t i = count; i-- > 0;) {
    stack_[window + 2 + i] = std::exchange(stack_[window + 1 + i], Value());
  }
  stack_[window + 1] = named.take();
  ++count;
  return native.with_names;
}

bool Thread::call_native_with(const Native& native, uint32_t window, uint32_t count, uint32_t leading,
                              const CallSpec* spec) {
  const NativeFn function = function_for(native, window, count, leading, spec);
  const uint32_t first = window + 1 - leading;
  count += leading;
  const NativeWindow guard(native_top_, std::max(native_top_, first + count));
  const Value value = function(*this, stack_ + first, static_cast<int>(count));
  finish_window(window, first, count, value);
  return false;
}

bool Thread::call_native(const Native& native, uint32_t result, uint32_t first, uint32_t count) {
  check_count(native, count);
  const NativeWindow guard(native_top_, std::max(native_top_, first + count));
  const Value value = native.fn(*this, stack_ + first, static_cast<int>(count));
  finish_window(result, first, count, value);
  return false;
}

// Pushes a frame for bound arguments. An async function starts a future instead, a generator function makes a
// generator; both take ownership of the arguments.
bool Thread::enter(Closure* closure, uint32_t base, uint32_t result, int32_t lvalue_index) {
  if (closure->proto->runs_at_once()) {
    push_frame(closure, base, result, lvalue_index);
    return true;
  }
  std::vector<Value> values;
  for (uint32_t i = 0; i < closure->proto->parameters.size(); ++i) {
    values.push_back(std::exchange(stack_[base + i], Value()));
  }
  assign(stack_[result], closure->proto->is_async
                             ? start_future(closure, std::move(values), is_awaited_at_once(result))
                             : Value::object(new Generator(closure, std::move(values))));
  return false;
}

// Whether the call whose result is stored there is the operand of `await`.
bool Thread::is_awaited_at_once(uint32_t result) const {
  if (frame_count_ == 0) {
    return false;
  }
  const Frame& caller = frames_[frame_count_ - 1];
  const Instruction* next = caller.pc;
  uint32_t held = result - caller.base;
  while (next->op == Op::kTake && next->b == held) {
    held = (next++)->a;
  }
  return next->op == Op::kAwait && next->b == held;
}

// Calls a native operator with the arguments from `first` on, of which the `leading` ones (self) have no
// name. True if it succeeded and its result is in the window.
bool Thread::call_operator(const Proto& proto, Symbol name, uint32_t window, uint32_t first, uint32_t count,
                           uint32_t leading, const CallSpec* spec) {
  Value result;
  {
    const NativeWindow guard(native_top_, std::max(native_top_, first + count));
    result = machine_hooks().call_operator(proto, name, stack_ + first, count, leading, spec);
  }
  if (result.is_missing()) {
    return false;
  }
  finish_window(window, first, count, result);
  return true;
}

bool Thread::start_method(const Method& method, uint32_t window, uint32_t count, const CallSpec* spec,
                          int32_t lvalue_index) {
  auto* closure = as_object<Closure>(method.function);
  const Proto& proto = *closure->proto;
  if (proto.is_operator() && !method.is_static &&
      call_operator(proto, proto.operator_call->name, window, window, count + 1, 1, spec)) {
    return false;
  }
  if (method.takes_class) {
    if (const Value self = stack_[window]; self.is(Kind::kInstance)) {
      assign(stack_[window], retained(Value::object(as_object<Instance>(self)->record)));
    }
  } else if (method.is_static) {
    bind_arguments(*closure->proto, window + 1, count, 0, spec);
    return enter(closure, window + 1, window, kNoLvalue);
  }
  bind_arguments(*closure->proto, window, count + 1, 1, spec);
  return enter(closure, window, window, lvalue_index);
}

// Makes a direct call. True if it succeeded and its result is in the window.
template <class Call>
bool Thread::call_directly(uint32_t window, uint32_t count, Call&& call) {
  Value result;
  {
    const NativeWindow guard(native_top_, std::max(native_top_, window + 1 + count));
    result = call();
  }
  if (result.is_missing()) {
    return false;
  }
  finish_window(window, window + 1, count, result);
  return true;
}

bool Thread::call_bound(uint32_t window, uint32_t count, const CallSpec* spec) {
  auto* bound = as_object<BoundMethod>(stack_[window]);
  const Ref held = Ref::shared(stack_[window]);
  if (bound->function.is_int()) {
    return construct_variant(as_object<Enum>(bound->self), static_cast<uint32_t>(bound->function.as_int),
                             window, count, spec);
  }
  if (bound->function.is(Kind::kNative)) {
    assign(stack_[window], retained(bound->self));
    return call_native_with(*as_object<Native>(bound->function), window, count, 1, spec);
  }
  assign(stack_[window], retained(bound->self));
  return start_method({bound->function, false, false}, window, count, spec, kNoLvalue);
}

bool Thread::call_instance(uint32_t window, uint32_t count, const CallSpec* spec) {
  const Value callee = stack_[window];
  const auto direct = [&] { return machine_hooks().direct_call(callee, stack_ + window + 1, count, spec); };
  if (call_directly(window, count, direct)) {
    return false;
  }
  static const Symbol hook = intern("__call__");
  if (const Method* method = as_object<Instance>(callee)->record->find(hook)) {
    return start_method(*method, window, count, spec, kNoLvalue);
  }
  fail_arguments("an instance of " + type_name(callee) + " cannot be called: it has no __call__");
}

// `Color(2)`: the variant with that value.
Value Thread::member_of_value(const Enum& type, uint32_t window, uint32_t count) const {
  if (count != 1) {
    fail_arguments(name_of(type.name) + " " + wrong_count(1, 1, count));
  }
  const Value wanted = stack_[window + 1];
  for (const VariantInfo& variant : type.variants) {
    if (variant.arity == 0 && equals(variant.value, wanted)) {
      return retained(variant.singleton);
    }
  }
  fail_value(display(wanted) + " is not a valid " + name_of(type.name));
}

bool Thread::start_call(uint32_t window, uint32_t count, const CallSpec* spec) {
  const Value callee = stack_[window];
  if (!callee.is_object()) {
    fail_arguments("a value of type " + type_name(callee) + " cannot be called");
  }
  switch (callee.as_object->kind) {
    case Kind::kClosure: {
      auto* closure = as_object<Closure>(callee);
      const Proto& proto = *closure->proto;
      if (proto.is_operator() &&
          call_operator(proto, proto.operator_call->name, window, window + 1, count, 0, spec)) {
        return false;
      }
      bind_arguments(*closure->proto, window + 1, count, 0, spec);
      return enter(closure, window + 1, window, kNoLvalue);
    }
    case Kind::kNative:
      if (spec == nullptr) {
        return call_native(*as_object<Native>(callee), window, window + 1, count);
      }
      return call_native_with(*as_object<Native>(callee), window, count, 0, spec);
    case Kind::kExtern: {
      if (spec != nullptr) {
        const Extern& function = *as_object<Extern>(callee);
        count = flatten_named(window + 1, count, *spec, function.name, function.parameters);
      }
      const NativeWindow guard(native_top_, std::max(native_top_, window + 1 + count));
      const Value result = machine_hooks().call_extern(*this, *as_object<Extern>(callee), stack_ + window + 1,
                                                       static_cast<int>(count));
      finish_window(window, window + 1, count, result);
      return false;
    }
    case Kind::kBoundMethod:
      return call_bound(window, count, spec);
    case Kind::kRecord:
      return construct(as_object<Record>(callee), window, count, spec);
    case Kind::kInstance:
      return call_instance(window, count, spec);
    case Kind::kEnum:
      finish_window(window, window + 1, count, member_of_value(*as_object<Enum>(callee), window, count));
      return false;
    default:
      fail_arguments("a value of type " + type_name(callee) + " cannot be called");
  }
}

// ---- Methods ---------------------------------------------------------------------------------------------

namespace {

// Whether the arguments of a call cannot be those of a method without rest parameters. A method of the same
// name that belongs to the native object is meant then.
bool spec_differs(const Method& method, uint32_t count, const CallSpec* spec) {
  const Proto* proto = as_object<Closure>(method.function)->proto;
  return proto->plain() && (spec != nullptr || proto->parameters.size() != count + 1);
}

}  // namespace

namespace {

bool can_be_called(Value value) {
  static const Symbol hook = intern("__call__");
  const bool is_function = value.is(Kind::kClosure) || value.is(Kind::kNative) || value.is(Kind::kExtern) ||
                           value.is(Kind::kBoundMethod) || value.is(Kind::kRecord) || value.is(Kind::kEnum);
  return is_function ||
         (value.is(Kind::kInstance) && as_object<Instance>(value)->record->find(hook) != nullptr);
}

// What the object has in place of a method of its class: an attribute, or a field that a method assigned. Nil
// if it has nothing that can be called.
Value replacement_of_method(Instance& object, Symbol name) {
  if (const Value* attribute = object.attribute(name); attribute != nullptr && can_be_called(*attribute)) {
    return *attribute;
  }
  if (!object.record->replaces(name)) {
    return Value();
  }
  const auto field = object.record->field_index.find(name);
  const Value value = field == object.record->field_index.end() ? Value() : object.fields()[field->second];
  return can_be_called(value) ? value : Value();
}

}  // namespace

bool Thread::invoke_on_instance(uint32_t window, uint32_t count, const CallSpec* spec, Cache& cache) {
  const Value self = stack_[window];
  const Symbol name = cache.name;
  auto* record = as_object<Instance>(self)->record;
  if (const Value replacement = replacement_of_method(*as_object<Instance>(self), name);
      !replacement.is_nil()) {
    assign(stack_[window], retained(replacement));
    return start_call(window, count, spec);
  }
  if (record == cache.without && cache.epoch == method_epoch()) {
    return invoke_unknown(window, count, spec, name);
  }
  const bool is_cached = record == cache.owner && cache.epoch == method_epoch();
  const Method* method = is_cached ? static_cast<const Method*>(cache.method) : record->find(name);
  if (method != nullptr && leaves_names(record->direct) && spec_differs(*method, count, spec)) {
    method = nullptr;
  }
  if (method != nullptr) {
    const Proto* proto = as_object<Closure>(method->function)->proto;
    const bool is_fixed = !record->replaces(name);
    if (is_fixed && !method->is_static && spec == nullptr && proto->plain() &&
        proto->parameters.size() == count + 1) {
      cache.type = record;
      cache.epoch = method_epoch();
      cache.target = method->function.as_object;
      cache.without = cache.owner = nullptr;
    } else if (!is_cached) {
      cache.type = cache.without = nullptr;
      cache.epoch = method_epoch();
      cache.owner = record;
      cache.method = method;
    }
    return start_method(*method, window, count, spec, kNoLvalue);
  }
  if (const auto field = record->field_index.find(name); field != record->field_index.end()) {
    assign(stack_[window], retained(as_object<Instance>(self)->fields()[field->second]));
    return start_call(window, count, spec);
  }
  cache.type = cache.owner = nullptr;
  cache.without = record;
  cache.epoch = method_epoch();
  return invoke_unknown(window, count, spec, name);
}

namespace {

// Parent.init(self), where the parent only has fields, which have their values.
const Native* default_initializer(Symbol name) {
  static const Symbol init = intern("init"), dunder = intern("__init__");
  static const Native& nothing = *[] {
    const NativeFn check_self = [](Thread&, Value* args, int) {
      if (!args[0].is(Kind::kInstance)) {
        fail("init() expects an instance, got " + type_name(args[0]), "write Parent.init(self)");
      }
      return Value();
    };
    auto* native = new Native("init", check_self, 1, 1);
    native->is_method = true;
    return native;
  }();
  return name == init || name == dunder ? &nothing : nullptr;
}

}  // namespace

// `super().make(a)`, where `make` is static or receives the class: the first argument, self, is the receiver.
bool Thread::start_static_of_super(const Method& method, uint32_t window, uint32_t count,
                                   const CallSpec* spec) {
  for (uint32_t i = 0; i < count; ++i) {
    assign(stack_[window + i], std::exchange(stack_[window + i + 1], Value()));
  }
  if (spec == nullptr) {
    return start_method(method, window, count - 1, nullptr, kNoLvalue);
  }
  const CallSpec others = {{spec->forms.begin() + 1, spec->forms.end()},
                           {spec->names.begin() + 1, spec->names.end()}};
  return start_method(method, window, count - 1, &others, kNoLvalue);
}

bool Thread::invoke_on_type(uint32_t window, uint32_t count, const CallSpec* spec, Cache& cache) {
  const Value self = stack_[window];
  const Symbol name = cache.name;
  auto* type = as_object<Type>(self);
  // A call with an instance may have cached a method that is not static.
  if (const auto* cached = static_cast<const Method*>(cache.method);
      type == cache.owner && cache.epoch == method_epoch() && cached->is_static) {
    return cache.is_super ? start_static_of_super(*cached, window, count, spec)
                          : start_method(*cached, window, count, spec, kNoLvalue);
  }
  if (self.is(Kind::kEnum)) {
    if (const int variant = as_object<Enum>(self)->index_of(name); variant >= 0) {
      return construct_variant(as_object<Enum>(self), static_cast<uint32_t>(variant), window, count, spec);
    }
  }
  if (const Method* method = type->find(name)) {
    if (method->is_static) {
      cache.type = cache.without = nullptr;
      cache.epoch = method_epoch();
      cache.owner = type;
      cache.method = method;
      return cache.is_super ? start_static_of_super(*method, window, count, spec)
                            : start_method(*method, window, count, spec, kNoLvalue);
    }
    // Type.method(object, …)
    auto* closure = as_object<Closure>(method->function);
    bind_arguments(*closure->proto, window + 1, count, 0, spec);
    return enter(closure, window + 1, window, kNoLvalue);
  }
  if (const Value* value = type->static_value(name)) {
    assign(stack_[window], retained(*value));
    return start_call(window, count, spec);
  }
  if (const Native* init = default_initializer(name);
      init != nullptr && self.is(Kind::kRecord) && count > 0) {
    return spec == nullptr ? call_native(*init, window, window + 1, count)
                           : call_native_with(*init, window, count, 0, spec);
  }
  fail(name_of(type->name) + " has no static method " + name_of(name), static_hint(*type, name));
}

namespace {

/// Text methods, and join() of arrays, take the text and the integers for which objects of another language
/// stand.
void take_native_forms(Value* args, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (args[i].is(Kind::kInstance) && as_object<Instance>(args[i])->record->native_form != nullptr) {
      const Method& form = *as_object<Instance>(args[i])->record->native_form;
      assign(args[i], object_hooks().call_method(args[i], form, nullptr, 0));
    }
  }
}

// The built-in method of an object that is no instance. It depends only on the object's kind, under which the
// cache keeps it.
const Native* cached_builtin_method(Value v, Cache& cache) {
  static const std::array<char, kKindCount> marks{};  // stand for the kinds in Cache::owner
  const char* mark = &marks[static_cast<size_t>(v.as_object->kind)];
  if (mark == cache.owner) {
    return static_cast<const Native*>(cache.method);
  }
  const Native* native = builtin_method_of(v, cache.name);
  if (native != nullptr) {
    cache.type = cache.without = nullptr;
    cache.owner = mark;
    cache.method = native;
  }
  return native;
}

}  // namespace

bool Thread::invoke_builtin(uint32_t window, uint32_t count, const CallSpec* spec, Cache& cache) {
  const Value self = stack_[window];
  const Symbol name = cache.name;
  const Native* native =
      self.is_object() ? cached_builtin_method(self, cache) : builtin_method_of(self, name);
  if (native == nullptr) {
    if (const Method* method = extension_method(self, name)) {
      return start_method(*method, window, count, spec, kNoLvalue);
    }
    if (self.is(Kind::kNative) && member_of_function(*as_object<Native>(self), name) != nullptr) {
      assign(stack_[window], get_field(self, name));
      return start_call(window, count, spec);
    }
    fail(type_name(self) + " has no method " + name_of(name), member_hint(self, name));
  }
  if (static const Symbol join = intern("join"); self.is(Kind::kText) || name == join) {
    take_native_forms(stack_ + window + 1, count);
  }
  if (spec == nullptr) {
    return call_native(*native, window, window, count + 1);
  }
  return call_native_with(*native, window, count, 1, spec);
}

// Calls the operator of that name, which is no member, for a module whose __getattr__ stands for operators.
bool Thread::call_module_operator(uint32_t window, uint32_t count, const CallSpec* spec, Symbol name) {
  static const Symbol hook = intern("__getattr__");
  auto& module = *static_cast<LoadedModule*>(stack_[window].as_object);
  const Value getter = module.own(hook);
  if (!getter.is(Kind::kClosure)) {
    return false;
  }
  const Proto& proto = *as_object<Closure>(getter)->proto;
  return proto.operator_call != nullptr && !(module.hides(name) && module.has(name)) &&
         call_operator(proto, name, window, window + 1, count, 0, spec);
}

bool Thread::start_invoke(uint32_t window, uint32_t count, const CallSpec* spec, Cache& cache) {
  const Value self = stack_[window];
  const Symbol name = cache.name;
  if (!self.is_object()) {
    return invoke_builtin(window, count, spec, cache);
  }
  switch (self.as_object->kind) {
    case Kind::kInstance:
      return invoke_on_instance(window, count, spec, cache);
    case Kind::kEnumValue:
      if (const Method* method = as_object<EnumValue>(self)->type->find(name)) {
        return start_method(*method, window, count, spec, kNoLvalue);
      }
      return invoke_builtin(window, count, spec, cache);
    case Kind::kRecord:
    case Kind::kEnum:
    case Kind::kTrait:
      return invoke_on_type(window, count, spec, cache);
    case Kind::kModule: {
      auto& module = *static_cast<LoadedModule*>(self.as_object);
      const Value member = module.member(name);
      if (member.is_missing() && call_module_operator(window, count, spec, name)) {
        return false;
      }
      assign(stack_[window], member.is_missing() ? module_member(module, name) : retained(member));
      return start_call(window, count, spec);
    }
    default:
      return invoke_builtin(window, count, spec, cache);
  }
}

// Replaces the arguments in the window by those of __invoke__: the method's name, the positional arguments as
// an array, the named ones as a dict.
void Thread::pack_arguments(uint32_t window, uint32_t count, const CallSpec* spec, Symbol name) {
  auto* args = new Array();
  Ref held_args = Ref::owned(Value::object(args));
  auto* named = new Dict();
  Ref held_named = Ref::owned(Value::object(named));
  for (uint32_t i = 0; i < count; ++i) {
    const auto form = spec == nullptr ? CallSpec::Form::kPositional : spec->forms[i];
    Ref value = Ref::owned(std::exchange(stack_[window + 1 + i], Value()));
    if (form == CallSpec::Form::kNamed) {
      named->set(make_text(name_of(spec->names[i])), value.take());
    } else if (form == CallSpec::Form::kSpread) {
      each(value.get(), [&](Value item) {
        args->items.push_back(retained(item));
        return true;
      });
    } else if (form == CallSpec::Form::kDictSpread) {
      for (const auto& entry : as_object<Dict>(value.get())->entries) {
        if (!entry.key.is_missing()) {
          named->set(retained(entry.key), retained(entry.value));
        }
      }
    } else {
      args->items.push_back(value.take());
    }
  }
  check_stack(window + 8);
  stack_[window + 1] = make_text(name_of(name));
  stack_[window + 2] = held_args.take();
  stack_[window + 3] = held_named.take();
}

// Calls a method that the class does not have: __invoke__, else the result of __getattr__.
bool Thread::invoke_unknown(uint32_t window, uint32_t count, const CallSpec* spec, Symbol name) {
  static const Symbol invoke = intern("__invoke__"), getattr = intern("__getattr__");
  const Value self = stack_[window];
  const auto direct = [&] {
    return machine_hooks().direct_invoke(self, name, stack_ + window + 1, count, spec);
  };
  if (call_directly(window, count, direct)) {
    return false;
  }
  auto* record = as_object<Instance>(self)->record;
  if (const Method* method = record->find(invoke)) {
    const Proto& proto = *as_object<Closure>(method->function)->proto;
    if (proto.operator_call != nullptr && call_operator(proto, name, window, window, count + 1, 1, spec)) {
      return false;
    }
    pack_arguments(window, count, spec, name);
    return start_method(*method, window, 3, nullptr, kNoLvalue);
  }
  if (const Method* attribute = record->find(getattr)) {
    const Ref text = Ref::owned(make_text(name_of(name)));
    const Value argument = text.get();
    assign(stack_[window], call_method_of(self, *attribute, &argument, 1));
    return start_call(window, count, spec);
  }
  if (const Native* native = builtin_method_of(self, name)) {  // a method of `T?`
    return call_native_with(*native, window, count, 1, spec);
  }
  fail(name_of(record->name) + " has no method " + name_of(name), member_hint(self, name));
}

namespace {

// Whether a built-in method may run code of the program: a function argument, or the comparisons of sort().
bool may_call_back(Symbol method, const Value* args, uint32_t count) {
  static const Symbol sort = intern("sort");
  return method == sort || std::any_of(args, args + count, [](Value v) {
           return v.is(Kind::kClosure) || v.is(Kind::kBoundMethod);
         });
}

bool is_mutable_builtin(Value v) {
  return v.is(Kind::kArray) || v.is(Kind::kDict) || v.is(Kind::kText) || v.is(Kind::kTuple);
}

}  // namespace

// The receiver is moved out of its lvalue while the method runs, so that the method holds the only reference.
// If the method may run code of the program, which could read the lvalue, the receiver is copied instead.
bool Thread::invoke_builtin_on_lvalue(NativeFn function, Value* lvalue, uint32_t window, uint32_t count,
                                      const LvaluePath& path, Symbol name, const ComputedPart& computed,
                                      Ref& part) {
  if (has_shape(*lvalue)) {
    admit_arguments(name, *lvalue, stack_ + window + 1, count);
  }
  const bool calls_back = may_call_back(name, stack_ + window + 1, count);
  stack_[window] = calls_back ? retained(*lvalue) : std::exchange(*lvalue, Value());
  const auto put_receiver_back = [&] {
    Ref scratch;
    Value* at = computed.exists() ? resolve_within(path, computed, part)
                                  : resolve_lvalue(path, path.steps.size(), scratch);
    if (at != nullptr) {
      assign(*at, std::exchange(stack_[window], Value()));
    }
  };
  Value result;
  try {
    const NativeWindow guard(native_top_, std::max(native_top_, window + count + 1));
    result = function(*this, stack_ + window, static_cast<int>(count + 1));
  } catch (...) {
    put_receiver_back();
    throw;
  }
  if (path.returns_receiver && (stack_[window].is(Kind::kArray) || stack_[window].is(Kind::kDict))) {
    assign(result, retained(stack_[window]));
  }
  put_receiver_back();
  if (computed.exists()) {
    const Ref held = Ref::owned(result);
    store_computed(path, computed, part.get());
    retained(result);
  }
  release_path(path);
  finish_window(window, window + 1, count, result);
  return false;
}

// A method that may change its receiver works on the receiver's lvalue.
bool Thread::start_invoke_lvalue(uint32_t window, uint32_t count, int32_t lvalue_index, Cache& cache) {
  const Proto& proto = *frames_[frame_count_ - 1].proto;
  const LvaluePath& path = proto.paths[static_cast<size_t>(lvalue_index)];
  const CallSpec* spec = path.spec >= 0 ? &proto.specs[static_cast<size_t>(path.spec)] : nullptr;
  Ref scratch;
  ComputedPart computed;
  Value* lvalue = resolve_lvalue(path, path.steps.size(), scratch, &computed);
  const bool is_builtin = is_mutable_builtin(*lvalue);
  const Native* native = is_builtin ? cached_builtin_method(*lvalue, cache) : nullptr;
  const Method* method = native == nullptr ? extension_method(*lvalue, cache.name) : nullptr;
  if (is_builtin && method == nullptr) {
    if (native == nullptr) {
      fail(type_name(*lvalue) + " has no method " + name_of(cache.name), member_hint(*lvalue, cache.name));
    }
    const auto arguments = static_cast<int>(count + 1);
    const bool is_plain = spec == nullptr && arguments >= native->min_arguments &&
                          (native->max_arguments < 0 || arguments <= native->max_arguments);
    const NativeFn function = is_plain ? native->fn : function_for(*native, window, count, 1, spec);
    return invoke_builtin_on_lvalue(function, lvalue, window, count, path, cache.name, computed, scratch);
  }
  if (lvalue->is(Kind::kInstance) && !as_object<Instance>(*lvalue)->record->is_class) {
    method = as_object<Instance>(*lvalue)->record->find(cache.name);
  }
  if (lvalue->is(Kind::kEnumValue)) {
    method = as_object<EnumValue>(*lvalue)->type->find(cache.name);
  }
  const bool in_place = method != nullptr && method->is_mutating && !method->is_static;
  if (in_place && !as_object<Closure>(method->function)->proto->runs_at_once()) {
    fail(name_of(cache.name) + "() changes its receiver in place and cannot be async or a generator",
         "methods of a class do not have this restriction");
  }
  if (in_place && computed.exists()) {
    fail(name_of(cache.name) + "() would change a copy, because the receiver is computed",
         "assign it to a variable first");
  }
  if (in_place && scratch.get().is_nil()) {
    return invoke_in_place(*method, lvalue, window, count, spec, lvalue_index);
  }
  assign(stack_[window], retained(*lvalue));
  release_path(path);
  return start_invoke(window, count, spec, cache);
}

bool Thread::invoke_in_place(const Method& method, Value* lvalue, uint32_t window, uint32_t count,
                             const CallSpec* spec, int32_t lvalue_index) {
  const LvaluePath& path = frames_[frame_count_ - 1].proto->paths[static_cast<size_t>(lvalue_index)];
  const bool is_variable = path.root == LvaluePath::Root::kGlobal && path.steps.empty();
  assign(stack_[window], std::exchange(*lvalue, is_variable ? Value::taken() : Value()));
  try {
    return start_method(method, window, count, spec, lvalue_index);
  } catch (...) {
    store_path(path, std::exchange(stack_[window], Value()));
    throw;
  }
}

}  // namespace spl
