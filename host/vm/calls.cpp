// Calls: what a callee may be, how arguments meet parameters, how objects are made.
#include <algorithm>

#include "host/builtins/builtins.h"
#include "host/ffi/extern.h"
#include "host/modules/module.h"
#include "host/values/spelling_suggester.h"
#include "host/vm/direct.h"
#include "host/vm/hints.h"
#include "host/vm/native_window.h"
#include "host/vm/thread.h"
#include "host/vm/threads.h"

namespace spl {

namespace {
constexpr uint32_t kStackSlots = 1u << 20;

}  // namespace

void Thread::need_room(uint32_t upper) const {
  if (upper < kStackSlots && frame_count_ + 1 < most_frames_) {
    return;
  }
  throw too_deep();
}

void Thread::push_frame(Closure* closure, uint32_t base, uint32_t count, uint32_t result,
                        int32_t place_path) {
  const Proto* proto = closure->proto;
  (void)count;
  need_room(base + proto->registers);
  Frame& frame = frames_[frame_count_++];
  frame.proto = proto;
  frame.pc = proto->code.data();
  frame.base = base;
  frame.result = result;
  frame.closure = closure;
  frame.place_path = place_path;
  frame.defers = static_cast<uint32_t>(defers_.size());
}

// The window gives up what it still holds, then its first register takes the result.
void Thread::finish_window(uint32_t result, uint32_t first, uint32_t count, Value owned) {
  for (uint32_t i = first; i < first + count; ++i) {
    const Value old = std::exchange(stack_[i], Value());
    release(old);
  }
  assign(stack_[result], owned);
}

bool Thread::call_native(const Native& native, uint32_t result, uint32_t first, uint32_t count) {
  if (static_cast<int>(count) < native.least || (native.most >= 0 && static_cast<int>(count) > native.most)) {
    const int self = native.is_method ? 1 : 0;  // which the caller does not count
    fail(std::string(native.name) + " " +
         wrong_count(native.least - self, native.most < 0 ? -1 : native.most - self, count - self));
  }
  const NativeWindow guard(native_top_, std::max(native_top_, first + count));
  const Value value = native.fn(*this, stack_ + first, static_cast<int>(count));
  finish_window(result, first, count, value);
  return false;
}

// Spread arrays and named arguments become positional ones, in place.
uint32_t Thread::flatten(uint32_t first, uint32_t count, const CallSpec& spec) {
  std::vector<Value> given;
  for (uint32_t i = 0; i < count; ++i) {
    const Value value = std::exchange(stack_[first + i], Value());
    if (spec.forms[i] != CallSpec::Form::kSpread) {
      given.push_back(value);
      continue;
    }
    const Ref held = Ref::owned(value);
    each(value, [&](Value item) {
      given.push_back(retained(item));
      return true;
    });
  }
  need_room(first + static_cast<uint32_t>(given.size()) + 8);
  std::copy(given.begin(), given.end(), stack_ + first);
  return static_cast<uint32_t>(given.size());
}

namespace {

// As the caller wrote it: an initializer is called by its class, a method on an object of one.
std::string called_name(const Proto& proto, Value self) {
  if (!proto.is_method || !self.is(Kind::kInstance)) {
    return proto.name;
  }
  const std::string& type = name_of(as_object<Instance>(self)->record->name);
  return proto.name == "init" || proto.name == "__init__" ? type : type + "." + proto.name;
}

}  // namespace

// Arguments lie from `base` on: `leading` of them (self) stand before those that `spec` tells of.
void Thread::bind_arguments(const Proto& proto, uint32_t base, uint32_t given, uint32_t leading,
                            const CallSpec* spec) {
  const auto parameters = static_cast<uint32_t>(proto.parameters.size());
  if (spec == nullptr && proto.plain() && given == parameters) {
    return;
  }
  need_room(base + std::max(parameters, given) + 8);
  std::vector<Ref> positional;
  std::vector<std::pair<Symbol, Ref>> named;
  for (uint32_t i = 0; i < given; ++i) {
    Ref value = Ref::owned(std::exchange(stack_[base + i], Value()));
    const auto form = spec == nullptr || i < leading ? CallSpec::Form::kPositional : spec->forms[i - leading];
    switch (form) {
      case CallSpec::Form::kPositional:
        // A block behind the call may follow anything.
        if (!named.empty() && !(i + 1 == given && value.get().is(Kind::kClosure))) {
          fail(proto.name + "(): a positional argument follows a named one");
        }
        positional.push_back(std::move(value));
        break;
      case CallSpec::Form::kNamed:
        named.emplace_back(spec->names[i - leading], std::move(value));
        break;
      case CallSpec::Form::kSpread:
        each(value.get(), [&](Value item) {
          positional.push_back(Ref::shared(item));
          return true;
        });
        break;
      case CallSpec::Form::kDictSpread:
        if (!value.get().is(Kind::kDict)) {
          fail("** needs a dict, not " + type_name(value.get()));
        }
        as_object<Dict>(value.get())->sort();
        for (const auto& entry : as_object<Dict>(value.get())->entries) {
          if (!entry.key.is(Kind::kText)) {
            fail("** needs text keys, not " + type_name(entry.key));
          }
          named.emplace_back(intern(text_of(entry.key)), Ref::shared(entry.value));
        }
        break;
      case CallSpec::Form::kBase:
        fail("..base is only allowed in a constructor call");
    }
  }
  Value* slots = stack_ + base;
  for (uint32_t i = 0; i < parameters; ++i) {
    slots[i] = Value::missing();
  }
  // Whatever fails below, nothing that the slots own is lost: the callee's registers are not yet a frame's.
  const auto refuse = [&](const std::string& message, const std::string& hint) {
    const std::string name = called_name(proto, parameters == 0 ? Value() : slots[0]);
    for (uint32_t i = 0; i < parameters; ++i) {
      assign(slots[i], Value());
    }
    fail(name + "(): " + message, hint);
  };
  Array* rest = nullptr;
  Dict* others = nullptr;
  if (proto.rest >= 0) {
    slots[proto.rest] = Value::object(rest = new Array());
  }
  if (proto.named >= 0) {
    slots[proto.named] = Value::object(others = new Dict());
  }
  uint32_t at = 0;
  for (Ref& value : positional) {
    while (at < parameters && (static_cast<int>(at) == proto.named || (static_cast<int>(at) == proto.rest))) {
      if (static_cast<int>(at) == proto.rest) {
        break;
      } else {
        ++at;
      }
    }
    if (at < parameters && static_cast<int>(at) != proto.rest) {
      slots[at++] = value.take();
    } else if (rest != nullptr) {
      rest->items.push_back(value.take());
    } else {
      refuse(wrong_count(parameters - (proto.is_method ? 1 : 0), parameters - (proto.is_method ? 1 : 0),
                         static_cast<int64_t>(positional.size()) - (proto.is_method ? 1 : 0)),
             parameters_hint(proto));
    }
  }
  for (auto& [name, value] : named) {
    const auto found = std::find(proto.parameters.begin(), proto.parameters.end(), name);
    const auto index = static_cast<int>(found - proto.parameters.begin());
    const bool is_receiver = proto.is_method && index == 0;  // whose name the program has not given
    if (found != proto.parameters.end() && index != proto.rest && index != proto.named && !is_receiver) {
      if (!slots[index].is_missing()) {
        refuse("the argument " + name_of(name) + " is given twice", parameters_hint(proto));
      }
      slots[index] = value.take();
    } else if (others != nullptr) {
      others->set(make_text(name_of(name)), value.take());
    } else {
      refuse("there is no parameter " + name_of(name), parameter_hint(proto, name));
    }
  }
  for (uint32_t i = 0; i < parameters; ++i) {
    if (slots[i].is_missing() && !proto.has_default[i]) {
      refuse("the argument " + name_of(proto.parameters[i]) + " is missing", parameters_hint(proto));
    }
  }
}

// A frame for bound arguments; for an async function a future, which has them run elsewhere, for one that
// yields a generator.
bool Thread::enter(Closure* closure, uint32_t base, uint32_t count, uint32_t result, int32_t place_path) {
  if (closure->proto->runs_at_once()) {
    push_frame(closure, base, count, result, place_path);
    return true;
  }
  std::vector<Value> values;
  for (uint32_t i = 0; i < closure->proto->parameters.size(); ++i) {
    values.push_back(std::exchange(stack_[base + i], Value()));
  }
  assign(stack_[result], closure->proto->is_async ? start_future(closure, std::move(values))
                                                  : Value::object(new Generator(closure, std::move(values))));
  return false;
}

bool Thread::start_method(const Method& method, uint32_t window, uint32_t count, const CallSpec* spec,
                          int32_t place_path) {
  auto* closure = as_object<Closure>(method.function);
  if (method.takes_class) {
    if (const Value self = stack_[window]; self.is(Kind::kInstance)) {
      assign(stack_[window], retained(Value::object(as_object<Instance>(self)->record)));
    }
  } else if (method.is_static) {
    bind_arguments(*closure->proto, window + 1, count, 0, spec);
    return enter(closure, window + 1, count, window, kNoPath);
  }
  bind_arguments(*closure->proto, window, count + 1, 1, spec);
  return enter(closure, window, count + 1, window, place_path);
}

// Whether the short way gave the window its result.
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

bool Thread::start_call(uint32_t window, uint32_t count, const CallSpec* spec) {
  const Value callee = stack_[window];
  if (!callee.is_object()) {
    fail("a value of type " + type_name(callee) + " cannot be called");
  }
  switch (callee.as_object->kind) {
    case Kind::kClosure: {
      auto* closure = as_object<Closure>(callee);
      bind_arguments(*closure->proto, window + 1, count, 0, spec);
      return enter(closure, window + 1, count, window, kNoPath);
    }
    case Kind::kNative:
      if (spec != nullptr) {
        count = flatten(window + 1, count, *spec);
      }
      return call_native(*as_object<Native>(callee), window, window + 1, count);
    case Kind::kExtern: {
      if (spec != nullptr) {
        count = flatten(window + 1, count, *spec);
      }
      const NativeWindow guard(native_top_, std::max(native_top_, window + 1 + count));
      const Value result =
          call_extern(*this, *as_object<Extern>(callee), stack_ + window + 1, static_cast<int>(count));
      finish_window(window, window + 1, count, result);
      return false;
    }
    case Kind::kBoundMethod: {
      auto* bound = as_object<BoundMethod>(callee);
      const Ref held = Ref::shared(callee);
      if (bound->function.is_int()) {
        return construct_variant(as_object<Enum>(bound->self), static_cast<uint32_t>(bound->function.as_int),
                                 window, count, spec);
      }
      if (bound->function.is(Kind::kNative)) {
        if (spec != nullptr) {
          count = flatten(window + 1, count, *spec);
        }
        assign(stack_[window], retained(bound->self));
        return call_native(*as_object<Native>(bound->function), window, window, count + 1);
      }
      assign(stack_[window], retained(bound->self));
      return start_method({bound->function, false, false}, window, count, spec, kNoPath);
    }
    case Kind::kRecord:
      return construct(as_object<Record>(callee), window, count, spec);
    case Kind::kInstance: {
      if (call_directly(window, count,
                        [&] { return direct_call(callee, stack_ + window + 1, count, spec); })) {
        return false;
      }
      static const Symbol hook = intern("__call__");
      if (const Method* method = as_object<Instance>(callee)->record->find(hook)) {
        return start_method(*method, window, count, spec, kNoPath);
      }
      fail("an instance of " + type_name(callee) + " cannot be called: it has no __call__");
    }
    default:
      fail("a value of type " + type_name(callee) + " cannot be called");
  }
}

// ---- Methods ---------------------------------------------------------------------------------------------

bool Thread::start_invoke(uint32_t window, uint32_t count, const CallSpec* spec, Cache& cache) {
  const Value self = stack_[window];
  const Symbol name = cache.name;
  if (self.is_object()) {
    switch (self.as_object->kind) {
      case Kind::kInstance: {
        auto* record = as_object<Instance>(self)->record;
        if (record == cache.without && cache.epoch == method_epoch()) {
          return invoke_unknown(window, count, spec, name);
        }
        if (const Method* method = record->find(name)) {
          const Proto* proto = as_object<Closure>(method->function)->proto;
          if (!method->is_static && spec == nullptr && proto->plain() &&
              proto->parameters.size() == count + 1) {
            cache.type = record;
            cache.epoch = method_epoch();
            cache.target = method->function.as_object;
            cache.without = nullptr;
          }
          return start_method(*method, window, count, spec, kNoPath);
        }
        if (const auto field = record->field_index.find(name); field != record->field_index.end()) {
          assign(stack_[window], retained(as_object<Instance>(self)->fields()[field->second]));
          return start_call(window, count, spec);
        }
        cache.type = nullptr;
        cache.without = record;
        cache.epoch = method_epoch();
        return invoke_unknown(window, count, spec, name);
      }
      case Kind::kEnumValue:
        if (const Method* method = as_object<EnumValue>(self)->type->find(name)) {
          return start_method(*method, window, count, spec, kNoPath);
        }
        break;
      case Kind::kRecord:
      case Kind::kEnum:
      case Kind::kTrait: {
        auto* type = as_object<Type>(self);
        if (self.is(Kind::kEnum)) {
          if (const int variant = as_object<Enum>(self)->index_of(name); variant >= 0) {
            return construct_variant(as_object<Enum>(self), static_cast<uint32_t>(variant), window, count,
                                     spec);
          }
        }
        if (const Method* method = type->find(name)) {
          if (method->is_static) {
            return start_method(*method, window, count, spec, kNoPath);
          }
          // Type.method(object, …)
          auto* closure = as_object<Closure>(method->function);
          bind_arguments(*closure->proto, window + 1, count, 0, spec);
          return enter(closure, window + 1, count, window, kNoPath);
        }
        if (const auto found = type->statics.find(name); found != type->statics.end()) {
          assign(stack_[window], retained(found->second));
          return start_call(window, count, spec);
        }
        fail(name_of(type->name) + " has no static method " + name_of(name), static_hint(*type, name));
      }
      case Kind::kModule: {
        auto* module = static_cast<LoadedModule*>(self.as_object);
        assign(stack_[window], module_member(*module, name));
        return start_call(window, count, spec);
      }
      default:
        break;
    }
  }
  const Native* native = builtin_method_of(self, name);
  if (native == nullptr) {
    if (const Method* method = extension_method(self, name)) {
      return start_method(*method, window, count, spec, kNoPath);
    }
  }
  if (native == nullptr) {
    fail(type_name(self) + " has no method " + name_of(name), member_hint(self, name));
  }
  if (spec != nullptr) {
    count = flatten(window + 1, count, *spec);
  }
  return call_native(*native, window, window, count + 1);
}

// A method that the class does not have: __invoke__, else what __getattr__ gives is called.
bool Thread::invoke_unknown(uint32_t window, uint32_t count, const CallSpec* spec, Symbol name) {
  static const Symbol invoke = intern("__invoke__"), getattr = intern("__getattr__");
  const Value self = stack_[window];
  if (call_directly(window, count,
                    [&] { return direct_invoke(self, name, stack_ + window + 1, count, spec); })) {
    return false;
  }
  auto* record = as_object<Instance>(self)->record;
  const Method* method = record->find(invoke);
  if (method != nullptr) {
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
      } else if (form == CallSpec::Form::kDictSpread && value.get().is(Kind::kDict)) {
        for (const auto& entry : as_object<Dict>(value.get())->entries) {
          if (!entry.key.is_missing()) {
            named->set(retained(entry.key), retained(entry.value));
          }
        }
      } else {
        args->items.push_back(value.take());
      }
    }
    need_room(window + 8);
    stack_[window + 1] = make_text(name_of(name));
    stack_[window + 2] = held_args.take();
    stack_[window + 3] = held_named.take();
    return start_method(*method, window, 3, nullptr, kNoPath);
  }
  if (const Method* attribute = record->find(getattr)) {
    const Ref text = Ref::owned(make_text(name_of(name)));
    const Value argument = text.get();
    assign(stack_[window], call_method_of(self, *attribute, &argument, 1));
    return start_call(window, count, spec);
  }
  if (const Native* native = builtin_method_of(self, name)) {  // of a `T?` that holds the object itself
    if (spec != nullptr) {
      count = flatten(window + 1, count, *spec);
    }
    return call_native(*native, window, window, count + 1);
  }
  fail(name_of(record->name) + " has no method " + name_of(name), member_hint(self, name));
}

namespace {
// Whether a built-in method runs Simple code: what it is given, or the order of what it sorts.
bool may_call_back(Symbol method, const Value* args, uint32_t count) {
  static const Symbol sort = intern("sort");
  return method == sort || std::any_of(args, args + count, [](Value v) {
           return v.is(Kind::kClosure) || v.is(Kind::kBoundMethod);
         });
}
}  // namespace

// A method that may change its receiver works on the receiver's place.
bool Thread::start_invoke_place(uint32_t window, uint32_t count, const Path& path, int32_t path_index,
                                Cache& cache) {
  const CallSpec* spec = nullptr;
  const Frame& frame = frames_[frame_count_ - 1];
  if (path.spec >= 0) {
    spec = &frame.proto->specs[static_cast<size_t>(path.spec)];
  }
  Ref scratch;
  Value* place = resolve_place(path, path.steps.size(), scratch);
  const bool is_builtin = place->is_object() && (place->is(Kind::kArray) || place->is(Kind::kDict) ||
                                                 place->is(Kind::kText) || place->is(Kind::kTuple));
  const Native* native = is_builtin ? builtin_method_of(*place, cache.name) : nullptr;
  const Method* extension = native == nullptr ? extension_method(*place, cache.name) : nullptr;
  if (is_builtin && extension == nullptr) {
    if (native == nullptr) {
      fail(type_name(*place) + " has no method " + name_of(cache.name), member_hint(*place, cache.name));
    }
    if (spec != nullptr) {
      count = flatten(window + 1, count, *spec);
    }
    if (static_cast<int>(count + 1) < native->least ||
        (native->most >= 0 && static_cast<int>(count + 1) > native->most)) {
      return call_native(*native, window, window, count + 1);  // tells what it takes
    }
    // The receiver is out of its place while the method runs, so that it is the only reference; unless Simple
    // code may run meanwhile and look there.
    const bool calls_back = may_call_back(cache.name, stack_ + window + 1, count);
    stack_[window] = calls_back ? retained(*place) : std::exchange(*place, Value());
    Value result;
    try {
      const NativeWindow guard(native_top_, std::max(native_top_, window + count + 1));
      result = native->fn(*this, stack_ + window, static_cast<int>(count + 1));
    } catch (...) {
      Ref again;
      assign(*resolve_place(path, path.steps.size(), again), std::exchange(stack_[window], Value()));
      throw;
    }
    Ref again;
    assign(*resolve_place(path, path.steps.size(), again), std::exchange(stack_[window], Value()));
    release_path(path);
    finish_window(window, window + 1, count, result);
    return false;
  }
  const Method* method = extension;
  if (place->is(Kind::kInstance) && !as_object<Instance>(*place)->record->is_class) {
    method = as_object<Instance>(*place)->record->find(cache.name);
  }
  if (place->is(Kind::kEnumValue)) {
    method = as_object<EnumValue>(*place)->type->find(cache.name);
  }
  const bool in_place = method != nullptr && method->is_mutating && !method->is_static;
  if (in_place && !as_object<Closure>(method->function)->proto->runs_at_once()) {
    fail(name_of(cache.name) + "() changes its receiver in place and cannot be async or a generator",
         "methods of a class do not have this restriction");
  }
  if (in_place && scratch.get().is_nil()) {
    const bool is_variable = path.root == Path::Root::kGlobal && path.steps.empty();
    assign(stack_[window], std::exchange(*place, is_variable ? Value::taken() : Value()));
    try {
      return start_method(*method, window, count, spec, path_index);
    } catch (...) {
      store_path(path, std::exchange(stack_[window], Value()));
      throw;
    }
  }
  assign(stack_[window], retained(*place));
  release_path(path);
  return start_invoke(window, count, spec, cache);
}

}  // namespace spl
