// The application of one decorator to a function, a method or a class.
#include "host/values/module.h"
#include "host/vm/machine_hooks.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

bool is_callable(Value v) {
  if (!v.is_object()) {
    return false;
  }
  switch (v.as_object->kind) {
    case Kind::kClosure:
    case Kind::kNative:
    case Kind::kExtern:
    case Kind::kBoundMethod:
    case Kind::kRecord:
      return true;
    case Kind::kInstance: {
      static const Symbol hook = intern("__call__");
      return as_object<Instance>(v)->record->find(hook) != nullptr;
    }
    default:
      return false;
  }
}

// `@torch.no_grad` without parentheses: the function makes the scope.
bool makes_scope(Value v) { return v.is(Kind::kClosure) && as_object<Closure>(v)->proto->makes_scope; }

// The function that runs each call of `function` inside the scope.
Value in_scope(Thread& thread, Value scope, Value function) {
  const Proto* proto = function.is(Kind::kClosure) ? as_object<Closure>(function)->proto : nullptr;
  if (proto != nullptr && proto->is_async) {
    fail(
        "decorator: " + type_name(scope) + " cannot decorate an async function, which runs on its own thread",
        "use 'with' in the body of the function");
  }
  if (function.is(Kind::kRecord)) {
    fail("decorator: " + type_name(scope) + " cannot decorate a class", "decorate its methods");
  }
  const bool is_generator = proto != nullptr && proto->is_generator;
  const Value arguments[] = {scope, function};
  return thread.call(machine_hooks().library_function("std/decorators",
                                                      is_generator ? "generator_in_scope" : "call_in_scope"),
                     arguments, 2);
}

}  // namespace

// A scope whose constructor has an effect, such as torch.set_grad_enabled(), has a method as_decorator(),
// which undoes the effect and returns the scope of the calls.
Value Thread::decorated(Value decorator, Value declaration) {
  if (makes_scope(decorator)) {
    const Ref scope = Ref::owned(call(decorator, nullptr, 0));
    return in_scope(*this, scope.get(), declaration);
  }
  if (is_callable(decorator)) {
    return call(decorator, &declaration, 1);
  }
  static const Symbol enter_hook = intern("__enter__"), convert = intern("as_decorator");
  if (const Method* method = find_method(decorator, convert)) {
    const Ref scope = Ref::owned(call_method_of(decorator, *method, nullptr, 0));
    return in_scope(*this, scope.get(), declaration);
  }
  if (find_method(decorator, enter_hook) != nullptr) {
    return in_scope(*this, decorator, declaration);
  }
  fail("decorator: a value of type " + type_name(decorator) + " is not callable and has no __enter__");
}

}  // namespace spl
