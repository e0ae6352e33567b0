#include "host/vm/failure.h"

#include "host/vm/thread.h"

namespace spl {

namespace {

// From the field `message`, else from __failure_text__(), to_string() or message(), else by display().
std::string message_of(Thread& thread, Value payload) {
  static const Symbol message = intern("message"), to_string = intern("to_string"),
                      failure_text = intern("__failure_text__");
  if (payload.is(Kind::kInstance)) {
    auto* instance = as_object<Instance>(payload);
    if (const auto field = instance->record->field_index.find(message);
        field != instance->record->field_index.end()) {
      return display(instance->fields()[field->second]);
    }
  }
  for (const Symbol name : {failure_text, to_string, message}) {
    const Method* method = thread.find_method(payload, name);
    if (method == nullptr || method->is_static) {
      continue;
    }
    const Ref text = Ref::owned(thread.call_method_of(payload, *method, nullptr, 0));
    return display(text.get());
  }
  return display(payload);
}

}  // namespace

void panic_with(Thread& thread, Value payload) {
  if (const SimpleError* first = error_behind(payload)) {
    throw SimpleError(*first);
  }
  SimpleError error(message_of(thread, payload));
  error.payload = Ref::shared(payload);
  throw error;
}

const SimpleError* error_behind(Value failure) {
  if (!failure.is(Kind::kInstance) || as_object<Instance>(failure)->record != core_types().failure) {
    return nullptr;
  }
  const Value cause = as_object<Instance>(failure)->fields()[4];
  return cause.is(Kind::kCause) ? &as_object<Cause>(cause)->error : nullptr;
}

Value attempted(Thread& thread, Value callee) {
  try {
    return make_ok(thread.call(callee, nullptr, 0));
  } catch (const SimpleError& error) {
    return make_err(to_failure(error));
  }
}

Value to_failure(const SimpleError& error) {
  Instance* failure = new_instance(core_types().failure);
  const StackEntry* entry = user_entry(error);
  failure->fields()[0] = make_text(error.message);
  failure->fields()[1] = make_text(entry == nullptr ? "" : entry->file);
  failure->fields()[2] = Value::integer(entry == nullptr ? 0 : entry->line);
  failure->fields()[3] = retained(error.payload.get());
  failure->fields()[4] = Value::object(new Cause(error));
  return Value::object(failure);
}

}  // namespace spl
