// iter(), and the methods of iterators.
#include <iterator>

#include "host/builtins/builtins.h"
#include "host/values/module.h"
#include "host/vm/protocols.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

// The iterator of a loop over the value. If an object's iter() returns an object, this is that object, so
// that the program can call its other methods.
Value iter_fn(Thread& thread, Value* args, int) {
  static const Symbol next = intern("next");
  Ref source = Ref::shared(args[0]);
  if (source.get().is(Kind::kInstance)) {
    if (const Method* method = iterator_method(source.get())) {
      source = Ref::owned(thread.call_method_of(source.get(), *method, nullptr, 0));
    }
    if (source.get().is(Kind::kInstance) && thread.find_method(source.get(), next) != nullptr) {
      return source.take();
    }
  }
  if (source.get().is(Kind::kGenerator)) {
    return source.take();
  }
  Ref made = Ref::owned(make_iterator(source.get()));
  return made.get().is(Kind::kArray) ? Value::object(new Iterator(made.take())) : made.take();
}

Value next_option(Thread& thread, Value* args, int) {
  Value state[2] = {args[0], Value::integer(0)}, value;
  return thread.iterate(state, value) ? make_some(value) : make_none();
}

Value shown(Thread&, Value* args, int) { return make_text(display(args[0])); }

}  // namespace

void install_iterators() {
  static const NativeEntry methods[] = {
      {"next", next_option, 1, 1}, {"to_string", shown, 1, 1}, {"to_text", shown, 1, 1}};
  add_methods(Kind::kIterator, methods);
  builtins()[intern("iter")] = Value::object(new Native("iter", iter_fn, 1, 1));
}

}  // namespace spl
