// The instructions that read an element of a field or change a number in place, for all other values.
#include "host/values/operator_hooks.h"
#include "host/vm/thread.h"

namespace spl {

// Owned. Keeps in the cache where the field is, unless reading it is more than that.
Value Thread::field_of(Value object, Cache& cache) {
  if (object.is(Kind::kInstance)) {
    auto* instance = as_object<Instance>(object);
    // Of a method get_field() checks whether it still is one. It also computes fields.
    const bool is_method = instance->record == cache.owner || instance->record->plain != nullptr;
    const auto end = instance->record->field_index.end();
    if (const auto found = is_method ? end : instance->record->field_index.find(cache.name);
        found != end && !instance->record->replaces(cache.name)) {
      cache.type = instance->record;
      cache.index = found->second;
      return retained(instance->fields()[cache.index]);
    }
  }
  return get_field(object, cache);
}

// x.f[i], or x.f[y.g] with `index_field`. Operands are evaluated from left to right.
Value Thread::field_element(Value object, Cache& cache, Value index_base, Cache* index_field) {
  const Ref held = Ref::owned(field_of(object, cache));
  const Ref index =
      index_field == nullptr ? Ref::shared(index_base) : Ref::owned(field_of(index_base, *index_field));
  return get_index(held.get(), index.get());
}

// `value op= by`, where `by` is a number.
void Thread::update(Value& value, BinaryOp op, Value by) {
  if (value.is(Kind::kInstance)) {
    if (const Method* method = find_method(value, inplace_hook(op))) {
      assign(value, call_method_of(value, *method, &by, 1));
      return;
    }
  }
  if (op == BinaryOp::kAdd && value.is(Kind::kText) && value.as_object->refs == 1) {
    as_object<Text>(value)->append(display(by));
    return;
  }
  assign(value, arithmetic(op, value, by));
}

void Thread::update_field(Value& object, Cache& cache, BinaryOp op, Value by) {
  Ref value = Ref::owned(field_of(object, cache));
  update(value.slot(), op, by);
  set_field(object, cache.name, value.take());
}

}  // namespace spl
