// Dicts, and objects that Python's ** and dict() take for dicts.
#include "host/vm/thread.h"

namespace spl {

Ref Thread::as_mapping(Value value) {
  if (value.is(Kind::kDict)) {
    return Ref::shared(value);
  }
  if (!value.is(Kind::kInstance)) {
    return Ref();
  }
  if (Ref converted = as_builtin(value, "dict"); converted.get().is(Kind::kDict)) {
    return converted;
  }
  static const Symbol keys = intern("keys"), item = intern("__getitem__");
  if (find_method(value, keys) == nullptr || find_method(value, item) == nullptr) {
    return Ref();
  }
  Ref entries = Ref::owned(Value::object(new Dict()));
  each(Ref::owned(call_method(value, keys, nullptr, 0)).get(), [&](Value key) {
    as_object<Dict>(entries.get())->set(retained(key), get_index(value, key));
    return true;
  });
  return entries;
}

void Thread::merge(Dict& dict, Value mapping) {
  const Ref entries = as_mapping(mapping);
  if (entries.get().is_nil()) {
    fail("the value after ** must be a dict, got " + type_name(mapping));
  }
  for (const auto& entry : as_object<Dict>(entries.get())->entries) {
    if (!entry.key.is_missing()) {
      dict.set(retained(entry.key), retained(entry.value));
    }
  }
}

}  // namespace spl
