// Lvalues such as `a[i].x`: resolved to one slot, read, written and released.
#include <algorithm>
#include <cmath>

#include "host/values/module.h"
#include "host/values/sized.h"
#include "host/vm/hints.h"
#include "host/vm/lvalues.h"
#include "host/vm/protocols.h"
#include "host/vm/thread.h"

namespace spl {

Value* field_slot(Instance& instance, const LvaluePath::Step& step) {
  if (instance.record != step.record) {
    const auto found = instance.record->field_index.find(step.operand);
    if (found == instance.record->field_index.end() || instance.record->replaces(step.operand)) {
      return nullptr;
    }
    step.record = instance.record;
    step.field = found->second;
  }
  return &instance.fields()[step.field];
}

namespace {

// The field that an assignment changes without a hook and without a copy; else null.
Value* assignable_slot(Value object, const LvaluePath::Step& step, Value value) {
  if (!object.is(Kind::kInstance)) {
    return nullptr;
  }
  auto* instance = as_object<Instance>(object);
  if ((!instance->record->is_class && instance->refs != 1) || has_assignment_hook(instance->record, value)) {
    return nullptr;
  }
  Value* const slot = field_slot(*instance, step);
  return slot == nullptr || has_replace_hook(*slot) ? nullptr : slot;
}

// The variable of the class that objects see as their own; null for a constant, and where a method has the
// name.
Value* static_slot(Record& record, Symbol name) {
  Value* const value = (record.plain != nullptr ? *record.plain : record).static_value(name);
  return record.find(name) == nullptr && !record.is_constant(name) ? value : nullptr;
}

// The attribute of the object, else the variable of its class.
Value* attribute_slot(Instance& instance, Symbol name) {
  if (instance.attribute(name) == nullptr) {
    return static_slot(*instance.record, name);
  }
  make_unique(instance.attributes());
  return instance.attribute(name);
}

}  // namespace

// The slot inside a container that a step of the path denotes; null if the value is computed.
Value* Thread::own_slot(Value* at, const LvaluePath::Step& step) {
  if (step.form == LvaluePath::Step::Form::kField) {
    const Symbol name = step.operand;
    if (at->is(Kind::kInstance)) {
      if (field_slot(*as_object<Instance>(*at), step) == nullptr) {
        return attribute_slot(*as_object<Instance>(*at), name);
      }
      make_unique(*at);
      Value* const slot = field_slot(*as_object<Instance>(*at), step);
      return has_read_hook(as_object<Instance>(*at)->record, *slot) ? nullptr : slot;
    }
    if (at->is(Kind::kModule)) {
      auto* module = static_cast<LoadedModule*>(at->as_object);
      const auto found = module->names.find(name);
      const bool is_own = found != module->names.end() && !module->slots[found->second].is_missing();
      return is_own ? &module->slots[found->second] : nullptr;
    }
    if (at->is(Kind::kRecord)) {
      return as_object<Type>(*at)->static_value(name);
    }
    return nullptr;
  }
  const Value index = index_of(step);
  if (at->is(Kind::kArray) && is_any_integer(index)) {
    make_unique(*at);
    auto& items = as_object<Array>(*at)->items;
    return &items.slot(checked_index(index, items.size(), "array"));
  }
  if (at->is(Kind::kTuple) && is_any_integer(index)) {
    make_unique(*at);
    auto& items = as_object<Tuple>(*at)->items;
    return &items.slot(checked_index(index, items.size(), "tuple"));
  }
  if (at->is(Kind::kDict)) {
    make_unique(*at);
    return as_object<Dict>(*at)->find(index);
  }
  return nullptr;
}

Value Thread::index_of(const LvaluePath::Step& step) const {
  return step.form == LvaluePath::Step::Form::kIndex ? stack_[frames_[frame_count_ - 1].base + step.operand]
                                                     : Value::integer(static_cast<int64_t>(step.operand));
}

Value* Thread::step_into(Value* at, const LvaluePath::Step& step, Ref& scratch) {
  if (Value* slot = own_slot(at, step)) {
    return slot;
  }
  scratch = Ref::owned(step.form == LvaluePath::Step::Form::kField ? get_field(*at, step.operand)
                                                                   : get_index(*at, index_of(step)));
  return &scratch.slot();
}

namespace {

[[noreturn]] void fail_default_change(Value record, Symbol field) {
  const std::string& name = name_of(field);
  fail("'" + name + "' is a field of each " + name_of(as_object<Type>(record)->name) +
           ", and not a variable of the class: only a copy of its default would change",
       "declare it with 'static var " + name + "'");
}

}  // namespace

Value* Thread::resolve_lvalue(const LvaluePath& path, size_t steps, Ref& scratch, ComputedPart* computed) {
  const Frame& frame = frames_[frame_count_ - 1];
  Value* registers = stack_ + frame.base;
  Value* at = nullptr;
  switch (path.root) {
    case LvaluePath::Root::kRegister:
    case LvaluePath::Root::kValue:
      at = &registers[path.operand];
      break;
    case LvaluePath::Root::kCell:
      at = &as_object<Cell>(registers[path.operand])->value;
      break;
    case LvaluePath::Root::kCapturedCell:
      at = &as_object<Cell>(frame.closure->captured[path.operand])->value;
      break;
    case LvaluePath::Root::kGlobal: {
      LoadedModule& module = *frame.proto->module;
      at = &module.slots[path.operand];
      if (at->is_taken() && !path.steps.empty()) {
        fail_taken(module.slot_names[path.operand]);
      }
      if (at->is_missing() && !at->is_taken()) {
        scratch = Ref::owned(global(module, path.operand));
        at = &scratch.slot();
        if (!module.slots[path.operand].is_missing()) {
          at = &module.slots[path.operand];
        }
      }
      break;
    }
  }
  for (size_t i = 0; i < steps; ++i) {
    Ref next;
    Value* inner = step_into(at, path.steps[i], next);
    if (inner == &next.slot()) {
      if (computed != nullptr && at->is(Kind::kRecord) &&
          (next.get().is(Kind::kArray) || next.get().is(Kind::kDict))) {
        fail_default_change(*at, path.steps[i].operand);
      }
      if (computed != nullptr) {
        computed->container = Ref::shared(*at);
        computed->step = i;
      }
      scratch = std::move(next);
      at = &scratch.slot();
    } else {
      at = inner;
    }
  }
  return at;
}

// The lvalue inside the computed part that `scratch` holds.
Value* Thread::resolve_within(const LvaluePath& path, const ComputedPart& computed, Ref& scratch) {
  Value* at = &scratch.slot();
  for (size_t i = computed.step + 1; at != nullptr && i < path.steps.size(); ++i) {
    at = own_slot(at, path.steps[i]);
  }
  return at;
}

// Stores the changed value of a computed part by __setitem__. Objects are no copies.
void Thread::store_computed(const LvaluePath& path, const ComputedPart& computed, Value changed) {
  const bool is_object = changed.is(Kind::kInstance) && as_object<Instance>(changed)->record->is_class;
  if (!computed.exists() || is_object || !changed.is_object() ||
      !computed.container.get().is(Kind::kInstance)) {
    return;
  }
  static const Symbol set_item = intern("__setitem__");
  const LvaluePath::Step& step = path.steps[computed.step];
  const std::string& owner = name_of(as_object<Instance>(computed.container.get())->record->name);
  static const Symbol all_fields = intern("__dict__");
  if (step.form == LvaluePath::Step::Form::kField && step.operand == all_fields && changed.is(Kind::kDict)) {
    Ref container = Ref::shared(computed.container.get());
    const Ref entries = Ref::shared(changed);
    as_object<Dict>(entries.get())->compact();
    for (const auto& entry : as_object<Dict>(entries.get())->entries) {
      set_field(container.slot(), intern(expect_text(entry.key, "a name in __dict__")),
                retained(entry.value));
    }
    return;
  }
  if (step.form == LvaluePath::Step::Form::kField) {
    if (as_object<Instance>(computed.container.get())->record->find(setter_of(step.operand)) != nullptr) {
      Ref container = Ref::shared(computed.container.get());
      set_field(container.slot(), step.operand, retained(changed));
      return;
    }
    fail(owner + " computes '" + name_of(step.operand) + "', so that only a copy would change",
         "assign it to a variable first");
  }
  if (find_method(computed.container.get(), set_item) == nullptr) {
    fail(owner + " has no __setitem__, so that only a copy of its element would change",
         "assign the element to a variable first, or define __setitem__");
  }
  Ref container = Ref::shared(computed.container.get());
  set_index(container.slot(), index_of(step), retained(changed));
}

void Thread::store_path(const LvaluePath& path, Value owned) {
  Ref value = Ref::owned(owned);
  Ref scratch;
  if (path.steps.empty()) {
    assign(*resolve_lvalue(path, 0, scratch), value.take());
    return;
  }
  ComputedPart computed;
  Value* lvalue = resolve_lvalue(path, path.steps.size() - 1, scratch, &computed);
  const LvaluePath::Step& last = path.steps.back();
  if (last.form == LvaluePath::Step::Form::kField) {
    if (Value* const slot = assignable_slot(*lvalue, last, value.get())) {
      assign(*slot, value.take());
    } else {
      set_field(*lvalue, last.operand, value.take());
    }
  } else {
    set_index(*lvalue, index_of(last), value.take());
  }
  store_computed(path, computed, scratch.get());
}

Value Thread::load_path(const LvaluePath& path) {
  Ref scratch;
  if (path.steps.empty()) {
    return retained(*resolve_lvalue(path, 0, scratch));
  }
  Value* lvalue = resolve_lvalue(path, path.steps.size() - 1, scratch);
  const LvaluePath::Step& last = path.steps.back();
  if (last.form == LvaluePath::Step::Form::kField) {
    if (lvalue->is(Kind::kInstance)) {
      auto* instance = as_object<Instance>(*lvalue);
      const Value* const slot = field_slot(*instance, last);
      if (slot != nullptr && !has_read_hook(instance->record, *slot)) {
        return retained(*slot);
      }
    }
    return get_field(*lvalue, last.operand);
  }
  return get_index(*lvalue, index_of(last));
}

// Clears the lvalue, which is about to be assigned again, so that `held` has a sole owner. A computed lvalue
// is left alone.
void Thread::release_lvalue(const LvaluePath& path, Value held) {
  Ref scratch;
  Value* at = resolve_lvalue(path, 0, scratch);
  for (size_t i = 0; at != nullptr && i < path.steps.size(); ++i) {
    at = own_slot(at, path.steps[i]);
  }
  if (at != nullptr && at != &scratch.slot() && at->is_object() && at->as_object == held.as_object) {
    assign(*at, Value());
  }
}

// Releases the temporaries of a path.
void Thread::release_path(const LvaluePath& path) {
  if (path.keeps) {
    return;
  }
  Value* registers = stack_ + frames_[frame_count_ - 1].base;
  if (path.root == LvaluePath::Root::kValue) {
    assign(registers[path.operand], Value());
  }
  for (const auto& step : path.steps) {
    if (step.form == LvaluePath::Step::Form::kIndex) {
      assign(registers[step.operand], Value());
    }
  }
}

}  // namespace spl
