// Fills the table of values/object_hooks.h.
#include "host/values/object_hooks.h"

#include "host/vm/generator.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"
#include "host/vm/thread.h"
#include "host/vm/threads.h"

namespace spl {

namespace {

std::string display_by_machine(Value v) {
  return v.is(Kind::kClosure) ? "<fn " + as_object<Closure>(v)->proto->name + ">"
                              : current_thread().instance_display(v);
}

std::string representation_by_machine(Value v) {
  static const Symbol hook = intern("__repr__");
  if (current_thread().find_method(v, hook) == nullptr) {
    return display(v);
  }
  const Ref text = Ref::owned(current_thread().call_method(v, hook, nullptr, 0));
  return display(text.get());
}

void destroy_object(Object* object) {
  if (object->kind == Kind::kGenerator) {
    destroy_generator(static_cast<Generator*>(object));
  } else {
    destroy_thread_handle(object);
  }
}

}  // namespace

void install_object_hooks() {
  object_hooks() = {
      .call_method = [](Value self, const Method& method, const Value* args,
                        int count) { return current_thread().call_method_of(self, method, args, count); },
      .drop = [](Instance* instance) { current_thread().drop(instance); },
      .truth = [](Value instance) { return current_thread().instance_truth(instance); },
      .equal = [](Value a, Value b) { return current_thread().instance_equal(a, b); },
      .compare = [](Value a, Value b) { return current_thread().instance_compare(a, b); },
      .display = display_by_machine,
      .representation = representation_by_machine,
      .destroy = destroy_object,
      .is_future = is_future,
      .request_collection = [] { request_safepoint(kCollectionReason); },
  };
}

}  // namespace spl
