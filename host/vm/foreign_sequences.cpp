// Patterns of instances that stand for sequences of another language.
#include "host/vm/patterns.h"
#include "host/vm/protocols.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

// The result of the instance's hook; empty if its class has no such hook.
Ref asked(Thread& thread, Value instance, Symbol hook, const Value* arguments, int count) {
  const Method* method = thread.find_method(instance, hook);
  return method == nullptr ? Ref() : Ref::owned(thread.call_method_of(instance, *method, arguments, count));
}

}  // namespace

Ref Thread::foreign_sequence(Value instance) {
  static const Symbol hook = intern("__sequence__");
  return asked(*this, instance, hook, nullptr, 0);
}

Ref Thread::sequence_of_pair(Value instance) {
  static const Symbol sequence = intern("__sequence__"), unpack = intern("__unpack__");
  const Value two = Value::integer(2);
  return find_method(instance, sequence) != nullptr ? foreign_sequence(instance)
                                                    : asked(*this, instance, unpack, &two, 1);
}

bool Thread::is_foreign_sequence(Value instance, int32_t form, uint32_t count) {
  return fits_sequence(foreign_sequence(instance).get(), form, count);
}

void Thread::unpack_foreign(Value& instance, int32_t form, uint32_t count) {
  static const Symbol hook = intern("__unpack__");
  const Value limit = (form & kMayBeLonger) != 0 ? Value() : Value::integer(count);
  Ref elements = asked(*this, instance, hook, &limit, 1);
  if (!elements.get().is_nil()) {
    assign(instance, elements.take());
  } else if (find_method(instance, hook) == nullptr && iterator_method(instance) != nullptr) {
    assign(instance, collected(instance));
  }
}

void Thread::convert_as_declared(Value& argument, Value type) {
  if (const Method* conversion = as_object<Instance>(argument)->record->as_declared) {
    assign(argument, call_method_of(argument, *conversion, &type, 1));
  }
}

Value Thread::instance_part(Value instance, uint32_t index) {
  const Ref sequence = foreign_sequence(instance);
  const auto* items = sequence_items(sequence.get());
  if (items == nullptr) {
    return part_of(instance, index);
  }
  if (index >= items->size()) {
    fail("the sequence has changed during the match");
  }
  return retained((*items)[index]);
}

Value Thread::rest_of(Value sequence, uint32_t start) {
  const Ref foreign = sequence.is(Kind::kInstance) ? foreign_sequence(sequence) : Ref();
  const Value source = foreign.get().is_nil() ? sequence : foreign.get();
  const auto* items = sequence_items(source);
  const bool is_empty = items == nullptr || items->size() <= start;
  return Value::object(is_empty ? new Array() : new Array(items->slice(start, items->size() - start)));
}

}  // namespace spl
