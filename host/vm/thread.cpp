// A thread's memory, the protocols of objects (fields, indexes, operators, iteration), and its stack trace.
#include "thread.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "../builtins/builtins.h"
#include "../modules/module.h"

namespace spl {

namespace {

constexpr size_t kStackBytes = (1u << 20) * sizeof(Value);
constexpr size_t kFrameBytes = 100000 * sizeof(Frame);

// Zeroed on demand, so that a thread that stays shallow costs little. Zero is a nil Value.
void* reserve(size_t bytes) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    fail("no memory for a thread's stack");
  return memory;
}

thread_local Thread* the_thread = nullptr;

}  // namespace

Thread::Thread()
    : stack_(static_cast<Value*>(reserve(kStackBytes))), frames_(static_cast<Frame*>(reserve(kFrameBytes))) {
  if (the_thread == nullptr)
    the_thread = this;
}

Thread::~Thread() {
  if (the_thread == this)
    the_thread = nullptr;
  munmap(stack_, kStackBytes);
  munmap(frames_, kFrameBytes);
}

Thread& current_thread() { return *the_thread; }

std::vector<StackEntry> Thread::stack() const {
  std::vector<StackEntry> entries;
  for (uint32_t i = frame_count_; i-- > 0;) {
    const Frame& frame = frames_[i];
    size_t at = static_cast<size_t>(frame.pc - frame.proto->code.data());
    if (at > 0)
      --at;
    const Place place = at < frame.proto->places.size() ? frame.proto->places[at] : Place{0, 0};
    entries.push_back({frame.proto->name, frame.proto->module->source.path, place.line, place.column,
                       frame.proto->module->is_library});
  }
  return entries;
}

void Thread::report_lost(const SimpleError& error, const std::string& where) {
  std::fflush(stdout);
  std::fprintf(stderr, "warning: an error in %s is lost: %s\n", where.c_str(), error.message.c_str());
}

const Method* Thread::find_method(Value self, Symbol name) const {
  if (self.is(Kind::kInstance))
    return as_object<Instance>(self)->record->find(name);
  if (self.is(Kind::kEnumValue))
    return as_object<EnumValue>(self)->type->find(name);
  return nullptr;
}

bool Thread::instance_truth(Value v) {
  static const Symbol hook = intern("__bool__");
  const Method* method = find_method(v, hook);
  if (method == nullptr)
    return true;
  const Ref result = Ref::owned(call_method_of(v, *method, nullptr, 0));
  return truthy(result.get());
}

bool Thread::instance_equal(Value a, Value b) {
  static const Symbol hook = intern("__eq__");
  for (const auto& [self, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (const Method* method = find_method(self, hook)) {
      const Ref result = Ref::owned(call_method_of(self, *method, &other, 1));
      return truthy(result.get());
    }
  }
  if (!a.is(Kind::kInstance) || !b.is(Kind::kInstance))
    return false;
  auto* left = as_object<Instance>(a);
  auto* right = as_object<Instance>(b);
  if (left == right)
    return true;
  if (left->record != right->record || left->record->is_class)
    return false;
  return std::equal(left->fields(), left->fields() + left->record->fields.size(), right->fields(), equals);
}

int Thread::instance_compare(Value a, Value b) {
  const Ref less = Ref::owned(arithmetic(BinaryOp::kLess, a, b));
  if (truthy(less.get()))
    return -1;
  const Ref greater = Ref::owned(arithmetic(BinaryOp::kLess, b, a));
  return truthy(greater.get()) ? 1 : 0;
}

std::string Thread::instance_display(Value v) {
  static const Symbol hook = intern("__str__");
  if (const Method* method = find_method(v, hook)) {
    const Ref text = Ref::owned(call_method_of(v, *method, nullptr, 0));
    if (!text.get().is(Kind::kText))
      fail("__str__ of " + type_name(v) + " must give text, it gave " + type_name(text.get()));
    return text_of(text.get());
  }
  auto* instance = as_object<Instance>(v);
  std::string shown = name_of(instance->record->name) + "(";
  for (size_t i = 0; i < instance->record->fields.size(); ++i)
    shown += (i == 0 ? "" : ", ") + name_of(instance->record->fields[i].name) + ": " +
             display(instance->fields()[i]);
  return shown + ")";
}

// ---- Fields ----------------------------------------------------------------------------------------------

Value Thread::get_field(Value object, Symbol name) {
  const auto method_value = [&](const Method& method) {
    const Proto* proto = as_object<Closure>(method.function)->proto;
    if (!method.is_static && proto->required <= 1)
      return call_method_of(object, method, nullptr, 0);  // a method without arguments needs no parentheses
    if (method.is_static)
      return retained(method.function);
    return Value::object(new BoundMethod(retained(object), retained(method.function)));
  };
  if (object.is_object()) {
    switch (object.as_object->kind) {
      case Kind::kInstance: {
        auto* instance = as_object<Instance>(object);
        if (const auto found = instance->record->field_index.find(name);
            found != instance->record->field_index.end())
          return retained(instance->fields()[found->second]);
        if (const Method* method = instance->record->find(name))
          return method_value(*method);
        if (const auto found = instance->record->statics.find(name); found != instance->record->statics.end())
          return retained(found->second);
        static const Symbol hook = intern("__getattr__");
        if (const Method* method = instance->record->find(hook)) {
          const Ref text = Ref::owned(make_text(name_of(name)));
          const Value argument = text.get();
          return call_method_of(object, *method, &argument, 1);
        }
        fail(name_of(instance->record->name) + " has no field " + name_of(name));
      }
      case Kind::kModule: {
        auto* module = static_cast<LoadedModule*>(object.as_object);
        const Value member = module->member(name);
        if (member.is_missing())
          fail("module " + module->name + " has no " + name_of(name));
        return retained(member);
      }
      case Kind::kEnum:
        if (const int variant = as_object<Enum>(object)->index_of(name); variant >= 0) {
          const VariantInfo& info = as_object<Enum>(object)->variants[static_cast<size_t>(variant)];
          if (info.arity == 0)
            return retained(info.singleton);
          return Value::object(new BoundMethod(object, Value::integer(variant)));
        }
        [[fallthrough]];
      case Kind::kRecord:
      case Kind::kTrait: {
        auto* type = as_object<Type>(object);
        if (const auto found = type->statics.find(name); found != type->statics.end())
          return retained(found->second);
        if (const Method* method = type->find(name))
          return retained(method->function);
        fail(name_of(type->name) + " has no static " + name_of(name));
      }
      case Kind::kEnumValue: {
        auto* value = as_object<EnumValue>(object);
        const auto& names = value->info().field_names;
        for (size_t i = 0; i < names.size(); ++i)
          if (names[i] == name)
            return retained(value->payload()[i]);
        if (const Method* method = value->type->find(name))
          return method_value(*method);
        static const Symbol number = intern("value");
        if (name == number && !value->info().value.is_nil())
          return retained(value->info().value);
        break;
      }
      case Kind::kTuple: {
        const auto* tuple = as_object<Tuple>(object);
        for (size_t i = 0; i < tuple->names.size(); ++i)
          if (tuple->names[i] == name)
            return retained(tuple->items[i]);
        break;
      }
      case Kind::kSlice: {
        const auto* slice = as_object<Slice>(object);
        const std::string& field = name_of(name);
        if (field == "start")
          return retained(slice->start);
        if (field == "stop")
          return retained(slice->stop);
        if (field == "step")
          return retained(slice->step);
        break;
      }
      case Kind::kRange: {
        const auto* range = as_object<Range>(object);
        const std::string& field = name_of(name);
        if (field == "start")
          return range->start;
        if (field == "end")
          return range->end;
        break;
      }
      default:
        break;
    }
  }
  const Native* native = builtin_method_of(object, name);
  if (native == nullptr)
    fail(type_name(object) + " has no field " + name_of(name));
  if (native->least > 1)
    return Value::object(new BoundMethod(retained(object), Value::object(const_cast<Native*>(native))));
  Value self = retained(object);
  const Value result = native->fn(*this, &self, 1);
  release(self);
  return result;
}

void Thread::set_field(Value& object, Symbol name, Value owned) {
  Ref value = Ref::owned(owned);
  if (object.is(Kind::kInstance)) {
    make_unique(object);
    auto* instance = as_object<Instance>(object);
    const auto found = instance->record->field_index.find(name);
    if (found == instance->record->field_index.end())
      fail(name_of(instance->record->name) + " has no field " + name_of(name));
    assign(instance->fields()[found->second], value.take());
    return;
  }
  if (object.is(Kind::kModule)) {
    static_cast<LoadedModule*>(object.as_object)->define(name, value.take());
    return;
  }
  if (object.is(Kind::kRecord) || object.is(Kind::kEnum) || object.is(Kind::kTrait)) {
    assign(as_object<Type>(object)->statics[name], value.take());
    return;
  }
  if (object.is(Kind::kTuple)) {
    make_unique(object);
    auto* tuple = as_object<Tuple>(object);
    for (size_t i = 0; i < tuple->names.size(); ++i) {
      if (tuple->names[i] != name)
        continue;
      assign(tuple->items[i], value.take());
      return;
    }
  }
  fail(type_name(object) + " has no field " + name_of(name) + " to assign to");
}

// ---- Indexes ---------------------------------------------------------------------------------------------

size_t checked_index(Value index, size_t size, const char* what) {
  if (!index.is_int())
    fail(std::string(what) + " index must be an integer, not " + type_name(index));
  const int64_t at = index.as_int < 0 ? index.as_int + static_cast<int64_t>(size) : index.as_int;
  if (at < 0 || at >= static_cast<int64_t>(size))
    fail("index " + std::to_string(index.as_int) + " is out of range for " + what + " of length " +
         std::to_string(size));
  return static_cast<size_t>(at);
}

namespace {

// Calls pick(i) for every index that start:stop:step selects.
template <class Pick>
void for_slice(Value start, Value stop, Value step, int64_t size, Pick&& pick) {
  for (const Value part : {start, stop, step})
    if (!part.is_nil() && !part.is_int())
      fail("the parts of a slice must be integers, not " + type_name(part));
  const int64_t by = step.is_nil() ? 1 : step.as_int;
  if (by == 0)
    fail("the step of a slice must not be 0");
  const auto clamp = [&](Value part, int64_t otherwise) {
    if (part.is_nil())
      return otherwise;
    const int64_t at = part.as_int < 0 ? part.as_int + size : part.as_int;
    return by > 0 ? std::clamp<int64_t>(at, 0, size) : std::clamp<int64_t>(at, -1, size - 1);
  };
  const int64_t first = clamp(start, by > 0 ? 0 : size - 1);
  const int64_t last = clamp(stop, by > 0 ? size : -1);
  for (int64_t at = first; by > 0 ? at < last : at > last; at += by)
    pick(at);
}

Value sliced(Value object, Value start, Value stop, Value step) {
  if (object.is(Kind::kText)) {
    const std::string& text = text_of(object);
    std::string part;
    const bool ascii = utf8_length(text) == text.size();
    if (ascii) {
      for_slice(start, stop, step, static_cast<int64_t>(text.size()),
                [&](int64_t at) { part += text[static_cast<size_t>(at)]; });
      return make_text(std::move(part));
    }
    std::vector<std::string> characters;
    for (size_t at = 0; at < text.size();) {
      const size_t step_bytes = utf8_step(text, at);
      characters.push_back(text.substr(at, step_bytes));
      at += step_bytes;
    }
    for_slice(start, stop, step, static_cast<int64_t>(characters.size()),
              [&](int64_t at) { part += characters[static_cast<size_t>(at)]; });
    return make_text(std::move(part));
  }
  const bool is_array = object.is(Kind::kArray);
  const auto& items = is_array ? as_object<Array>(object)->items : as_object<Tuple>(object)->items;
  std::vector<Value> picked;
  for_slice(start, stop, step, static_cast<int64_t>(items.size()),
            [&](int64_t at) { picked.push_back(retained(items[static_cast<size_t>(at)])); });
  return is_array ? make_array(std::move(picked)) : make_tuple(std::move(picked));
}

}  // namespace

Value Thread::get_index(Value object, Value index) {
  if (object.is(Kind::kInstance)) {
    static const Symbol hook = intern("__getitem__");
    const Method* method = find_method(object, hook);
    if (method == nullptr)
      fail(type_name(object) + " cannot be indexed: it has no __getitem__");
    return call_method_of(object, *method, &index, 1);
  }
  if (object.is(Kind::kDict)) {
    const Value* found = as_object<Dict>(object)->find(index);
    return found == nullptr ? Value() : retained(*found);
  }
  const bool sequence = object.is(Kind::kArray) || object.is(Kind::kTuple) || object.is(Kind::kText);
  if (sequence && index.is(Kind::kSlice)) {
    const auto* slice = as_object<Slice>(index);
    return sliced(object, slice->start, slice->stop, slice->step);
  }
  if (sequence && index.is(Kind::kRange)) {
    const auto* range = as_object<Range>(index);
    Value stop = range->end;
    if (range->inclusive && stop.is_int())
      stop = stop.as_int == -1 ? Value() : Value::integer(stop.as_int + 1);
    return sliced(object, range->start, stop, Value());
  }
  if (object.is(Kind::kArray)) {
    const auto& items = as_object<Array>(object)->items;
    return retained(items[checked_index(index, items.size(), "array")]);
  }
  if (object.is(Kind::kTuple)) {
    const auto& items = as_object<Tuple>(object)->items;
    return retained(items[checked_index(index, items.size(), "tuple")]);
  }
  if (object.is(Kind::kText)) {
    const std::string& text = text_of(object);
    const size_t length = utf8_length(text);
    size_t which = checked_index(index, length, "text");
    if (length == text.size())
      return make_text(std::string(1, text[which]));
    size_t at = 0;
    while (which-- > 0)
      at += utf8_step(text, at);
    return make_text(text.substr(at, utf8_step(text, at)));
  }
  if (object.is(Kind::kRange) && index.is_int()) {
    const auto* range = as_object<Range>(object);
    return Value::integer(range->start.as_int + static_cast<int64_t>(checked_index(
                                                    index, static_cast<size_t>(length(object)), "range")));
  }
  fail(type_name(object) + " cannot be indexed");
}

void Thread::set_index(Value& object, Value index, Value owned) {
  Ref value = Ref::owned(owned);
  if (object.is(Kind::kInstance)) {
    static const Symbol hook = intern("__setitem__");
    const Method* method = find_method(object, hook);
    if (method == nullptr)
      fail("elements of " + type_name(object) + " cannot be assigned to: it has no __setitem__");
    const Value args[] = {index, value.get()};
    release(call_method_of(object, *method, args, 2));
    return;
  }
  if (object.is(Kind::kDict)) {
    make_unique(object);
    as_object<Dict>(object)->set(retained(index), value.take());
    return;
  }
  if (object.is(Kind::kArray)) {
    make_unique(object);
    auto& items = as_object<Array>(object)->items;
    assign(items[checked_index(index, items.size(), "array")], value.take());
    return;
  }
  if (object.is(Kind::kTuple)) {
    make_unique(object);
    auto& items = as_object<Tuple>(object)->items;
    assign(items[checked_index(index, items.size(), "tuple")], value.take());
    return;
  }
  fail("elements of " + type_name(object) + " cannot be assigned to");
}

// ---- Places ----------------------------------------------------------------------------------------------

Value* Thread::step_into(Value* at, const Path::Step& step, Ref& scratch) {
  Value* registers = stack_ + frames_[frame_count_ - 1].base;
  const auto keep = [&](Value owned) {
    scratch = Ref::owned(owned);
    return &scratch.slot();
  };
  if (step.form == Path::Step::Form::kField) {
    const Symbol name = step.operand;
    if (at->is(Kind::kInstance)) {
      auto* record = as_object<Instance>(*at)->record;
      const auto found = record->field_index.find(name);
      if (found != record->field_index.end()) {
        make_unique(*at);
        return &as_object<Instance>(*at)->fields()[found->second];
      }
    }
    if (at->is(Kind::kModule)) {
      auto* module = static_cast<LoadedModule*>(at->as_object);
      if (const auto found = module->names.find(name);
          found != module->names.end() && !module->slots[found->second].is_missing())
        return &module->slots[found->second];
    }
    if (at->is(Kind::kRecord)) {
      auto& statics = as_object<Type>(*at)->statics;
      if (const auto found = statics.find(name); found != statics.end())
        return &found->second;
    }
    return keep(get_field(*at, name));
  }
  const Value index = step.form == Path::Step::Form::kIndex
                          ? registers[step.operand]
                          : Value::integer(static_cast<int64_t>(step.operand));
  if (at->is(Kind::kArray) && index.is_int()) {
    make_unique(*at);
    auto& items = as_object<Array>(*at)->items;
    return &items[checked_index(index, items.size(), "array")];
  }
  if (at->is(Kind::kTuple) && index.is_int()) {
    make_unique(*at);
    auto& items = as_object<Tuple>(*at)->items;
    return &items[checked_index(index, items.size(), "tuple")];
  }
  if (at->is(Kind::kDict)) {
    make_unique(*at);
    if (Value* found = as_object<Dict>(*at)->find(index))
      return found;
  }
  return keep(get_index(*at, index));
}

Value* Thread::resolve_place(const Path& path, size_t steps, Ref& scratch) {
  const Frame& frame = frames_[frame_count_ - 1];
  Value* registers = stack_ + frame.base;
  Value* at = nullptr;
  switch (path.root) {
    case Path::Root::kRegister:
    case Path::Root::kValue:
      at = &registers[path.operand];
      break;
    case Path::Root::kCell:
      at = &as_object<Cell>(registers[path.operand])->value;
      break;
    case Path::Root::kCapturedCell:
      at = &as_object<Cell>(frame.closure->captured[path.operand])->value;
      break;
    case Path::Root::kGlobal: {
      LoadedModule& module = *frame.proto->module;
      at = &module.slots[path.operand];
      if (at->is_missing()) {
        scratch = Ref::owned(global(module, path.operand));
        at = &scratch.slot();
        if (!module.slots[path.operand].is_missing())
          at = &module.slots[path.operand];
      }
      break;
    }
  }
  for (size_t i = 0; i < steps; ++i) {
    Ref next;
    Value* inner = step_into(at, path.steps[i], next);
    if (inner == &next.slot()) {
      scratch = std::move(next);
      at = &scratch.slot();
    } else {
      at = inner;
    }
  }
  return at;
}

void Thread::store_path(const Path& path, Value owned) {
  Ref value = Ref::owned(owned);
  Ref scratch;
  if (path.steps.empty()) {
    assign(*resolve_place(path, 0, scratch), value.take());
    return;
  }
  Value* place = resolve_place(path, path.steps.size() - 1, scratch);
  const Path::Step& last = path.steps.back();
  Value* registers = stack_ + frames_[frame_count_ - 1].base;
  switch (last.form) {
    case Path::Step::Form::kField:
      set_field(*place, last.operand, value.take());
      break;
    case Path::Step::Form::kIndex:
      set_index(*place, registers[last.operand], value.take());
      break;
    case Path::Step::Form::kTupleField:
      set_index(*place, Value::integer(static_cast<int64_t>(last.operand)), value.take());
      break;
  }
}

Value Thread::load_path(const Path& path) {
  Ref scratch;
  if (path.steps.empty())
    return retained(*resolve_place(path, 0, scratch));
  Value* place = resolve_place(path, path.steps.size() - 1, scratch);
  const Path::Step& last = path.steps.back();
  if (last.form == Path::Step::Form::kField)
    return get_field(*place, last.operand);
  const Value index = last.form == Path::Step::Form::kIndex
                          ? stack_[frames_[frame_count_ - 1].base + last.operand]
                          : Value::integer(static_cast<int64_t>(last.operand));
  return get_index(*place, index);
}

// The temporaries of a path are used up with it.
void Thread::release_path(const Path& path) {
  Value* registers = stack_ + frames_[frame_count_ - 1].base;
  if (path.root == Path::Root::kValue)
    assign(registers[path.operand], Value());
  for (const auto& step : path.steps)
    if (step.form == Path::Step::Form::kIndex)
      assign(registers[step.operand], Value());
}

Value Thread::global(LoadedModule& module, uint32_t slot) {
  const Symbol name = module.slot_names[slot];
  const Value value = module.lookup(name);
  if (value.is_missing())
    fail("'" + name_of(name) + "' is not defined");
  // Remembered where it cannot change: a variable of another module is looked up each time.
  const auto imported = module.imports.find(name);
  const bool variable =
      imported != module.imports.end() && imported->second.from->variables.contains(imported->second.name);
  bool from_wildcard = false;
  for (const LoadedModule* other : module.wildcards)
    from_wildcard = from_wildcard || other->variables.contains(name);
  if (!variable && !from_wildcard && module.slots[slot].is_missing())
    module.slots[slot] = retained(value);
  return retained(value);
}

// ---- Lengths and loops -----------------------------------------------------------------------------------

int64_t Thread::length(Value v) {
  if (v.is_object()) {
    switch (v.as_object->kind) {
      case Kind::kText:
        return static_cast<int64_t>(utf8_length(text_of(v)));
      case Kind::kArray:
        return static_cast<int64_t>(as_object<Array>(v)->items.size());
      case Kind::kTuple:
        return static_cast<int64_t>(as_object<Tuple>(v)->items.size());
      case Kind::kDict:
        return as_object<Dict>(v)->live;
      case Kind::kRange: {
        const auto* range = as_object<Range>(v);
        if (!range->start.is_int() || !range->end.is_int())
          fail("an open range has no length");
        return std::max<int64_t>(0, range->end.as_int - range->start.as_int + (range->inclusive ? 1 : 0));
      }
      case Kind::kInstance: {
        static const Symbol hook = intern("__len__"), plain = intern("len");
        const Method* method = find_method(v, hook);
        if (method == nullptr)
          method = find_method(v, plain);
        if (method == nullptr)
          break;
        const Ref result = Ref::owned(call_method_of(v, *method, nullptr, 0));
        return to_integer(result.get());
      }
      default:
        break;
    }
  }
  fail(type_name(v) + " has no length");
}

Value make_iterator(Value source) {
  if (source.is(Kind::kArray))
    return retained(source);
  if (source.is(Kind::kDict)) {
    Value held = retained(source);
    as_object<Dict>(held)->sort();
    return Value::object(new Iterator(held));
  }
  if (source.is(Kind::kText) || source.is(Kind::kTuple) || source.is(Kind::kRange))
    return Value::object(new Iterator(retained(source)));
  Thread& thread = current_thread();
  static const Symbol iter = intern("iter"), next = intern("next"), getitem = intern("__getitem__");
  if (const Method* method = thread.find_method(source, iter)) {
    Ref inner = Ref::owned(thread.call_method_of(source, *method, nullptr, 0));
    if (thread.find_method(inner.get(), next) != nullptr)
      return Value::object(new Iterator(inner.take()));
    if (inner.get().is(Kind::kInstance))
      fail("iter() of " + type_name(source) + " gives " + type_name(inner.get()) + ", which has no next()");
    return make_iterator(inner.get());
  }
  if (thread.find_method(source, next) != nullptr || thread.find_method(source, getitem) != nullptr)
    return Value::object(new Iterator(retained(source)));
  if (is_none(source))
    return make_array({});
  if (source.is(Kind::kEnumValue) && as_object<EnumValue>(source)->type == core_types().option)
    return make_array({retained(as_object<EnumValue>(source)->payload()[0])});
  fail("cannot loop over " + type_name(source));
}

// False at the end. `state` is an array or an Iterator, and the position after it.
bool Thread::iterate(Value* state, Value& out) {
  if (state[0].is(Kind::kArray)) {
    const auto& items = as_object<Array>(state[0])->items;
    const auto at = static_cast<size_t>(state[1].as_int);
    if (at >= items.size())
      return false;
    state[1] = Value::integer(static_cast<int64_t>(at + 1));
    out = retained(items[at]);
    return true;
  }
  auto* iterator = as_object<Iterator>(state[0]);
  const Value source = iterator->source;
  switch (source.as_object->kind) {
    case Kind::kTuple: {
      const auto& items = as_object<Tuple>(source)->items;
      if (iterator->position >= static_cast<int64_t>(items.size()))
        return false;
      out = retained(items[static_cast<size_t>(iterator->position++)]);
      return true;
    }
    case Kind::kText: {
      const std::string& text = text_of(source);
      const auto at = static_cast<size_t>(iterator->position);
      if (at >= text.size())
        return false;
      const size_t bytes = utf8_step(text, at);
      iterator->position += static_cast<int64_t>(bytes);
      out = make_text(text.substr(at, bytes));
      return true;
    }
    case Kind::kRange: {
      const auto* range = as_object<Range>(source);
      const int64_t at = (range->start.is_int() ? range->start.as_int : 0) + iterator->position;
      if (range->end.is_int() && (range->inclusive ? at > range->end.as_int : at >= range->end.as_int))
        return false;
      ++iterator->position;
      out = Value::integer(at);
      return true;
    }
    case Kind::kDict: {
      const auto& entries = as_object<Dict>(source)->entries;
      while (iterator->position < static_cast<int64_t>(entries.size())) {
        const auto& entry = entries[static_cast<size_t>(iterator->position++)];
        if (entry.key.is_missing())
          continue;
        out = make_tuple({retained(entry.key), retained(entry.value)});
        return true;
      }
      return false;
    }
    default:
      break;
  }
  static const Symbol next = intern("next"), getitem = intern("__getitem__");
  if (const Method* method = find_method(source, next)) {
    const Value value = call_method_of(source, *method, nullptr, 0);
    if (is_none(value)) {
      release(value);
      return false;
    }
    out = value;
    if (value.is(Kind::kEnumValue) && as_object<EnumValue>(value)->type == core_types().option) {
      out = retained(as_object<EnumValue>(value)->payload()[0]);
      release(value);
    }
    return true;
  }
  if (iterator->position >= length(source))
    return false;
  const Value index = Value::integer(iterator->position++);
  out = call_method_of(source, *find_method(source, getitem), &index, 1);
  return true;
}

// Pairs are taken apart, other elements counted.
bool Thread::iterate_pair(Value* state, Value& first, Value& second) {
  Value element;
  const int64_t before = state[1].is_int() ? state[1].as_int : 0;
  if (!iterate(state, element))
    return false;
  if (!state[0].is(Kind::kArray))
    state[1] = Value::integer(before + 1);
  const bool pair = element.is(Kind::kTuple) && as_object<Tuple>(element)->items.size() == 2;
  if (!pair) {
    first = Value::integer(before);
    second = element;
    return true;
  }
  first = retained(as_object<Tuple>(element)->items[0]);
  second = retained(as_object<Tuple>(element)->items[1]);
  release(element);
  return true;
}

void Thread::each(Value iterable, const std::function<bool(Value)>& body) {
  Value state[2] = {make_iterator(iterable), Value::integer(0)};
  const Ref held = Ref::owned(state[0]);
  Value element;
  while (iterate(state, element)) {
    const Ref current = Ref::owned(element);
    if (!body(element))
      return;
  }
}

// ---- Types -----------------------------------------------------------------------------------------------

namespace {

Value find_type(LoadedModule& module, const std::vector<Symbol>& path) {
  if (path.empty())
    return Value::missing();
  Value at = module.lookup(path[0]);
  for (size_t i = 1; i < path.size() && !at.is_missing(); ++i)
    at = at.is(Kind::kModule) ? static_cast<LoadedModule*>(at.as_object)->member(path[i]) : Value::missing();
  return at;
}

void inherit(Type& type, const Type& parent) {
  for (const auto& [name, method] : parent.methods)
    type.methods.emplace(name, method);  // what the type has itself stays
  for (const auto& [name, value] : parent.statics)
    type.statics.emplace(name, retained(value));
}

}  // namespace

bool is_of_type(Value v, const Type* type) {
  const Type* own = v.is(Kind::kInstance)    ? static_cast<const Type*>(as_object<Instance>(v)->record)
                    : v.is(Kind::kEnumValue) ? static_cast<const Type*>(as_object<EnumValue>(v)->type)
                                             : nullptr;
  if (own == nullptr)
    return false;
  return own == type || std::find(own->traits.begin(), own->traits.end(), type) != own->traits.end();
}

void Thread::link_type(const TypeLink& link, LoadedModule& module) {
  Type* type = link.type;
  if (type == nullptr) {
    const Value found = find_type(module, link.target);
    if (found.is(Kind::kRecord) || found.is(Kind::kEnum) || found.is(Kind::kTrait))
      type = as_object<Type>(found);
    else if (!found.is(Kind::kNative))
      fail("impl: there is no type " +
           (link.target.empty() ? std::string("of that form") : name_of(link.target.back())));
    if (type == nullptr)
      fail("impl for the built-in type " + name_of(link.target.back()) + " is not supported");
  }
  ++method_epoch();
  for (const auto& [name, method] : link.methods)
    type->methods[name] = method;
  for (const auto& path : link.parents) {
    const Value parent = find_type(module, path);
    if (!parent.is(Kind::kTrait) && !parent.is(Kind::kRecord))
      fail(name_of(type->name) + ": there is no trait " +
           (path.empty() ? "of that form" : name_of(path.back())));
    inherit(*type, *as_object<Type>(parent));
    if (parent.is(Kind::kTrait)) {
      type->traits.push_back(as_object<Trait>(parent));
      for (Trait* further : as_object<Trait>(parent)->traits)
        type->traits.push_back(further);
    }
  }
  if (type->kind == Kind::kRecord)
    static_cast<Record*>(type)->drop = type->find(intern("drop"));
}

}  // namespace spl
