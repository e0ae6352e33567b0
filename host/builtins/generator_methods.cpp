// generator(), next(), collect(), and the methods of generators.
#include "host/builtins/builtins.h"
#include "host/modules/loader.h"
#include "host/values/error.h"
#include "host/vm/generator.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

// next(x): the next value, nil at the end. For an object with next(), Some(x) becomes x.
// next(x, default): the default at the end.
Value next_value(Thread& thread, Value* args, int count) {
  static const Symbol next = intern("next");
  Value value;
  const auto at_end = [&] { return count > 1 ? retained(args[1]) : Value(); };
  if (args[0].is(Kind::kGenerator)) {
    if (thread.resume(as_object<Generator>(args[0]), value)) {
      return value;
    }
    release(value);
    return at_end();
  }
  if (args[0].is(Kind::kIterator)) {
    Value state[2] = {args[0], Value::integer(0)};
    return thread.iterate(state, value) ? value : at_end();
  }
  static const Symbol next_hook = intern("__next__");
  const Method* own = args[0].is(Kind::kInstance) ? thread.find_method(args[0], next) : nullptr;
  if (own == nullptr && args[0].is(Kind::kInstance)) {
    own = thread.find_method(args[0], next_hook);
  }
  // `next(model.parameters())`: an array that no variable holds, so no second call can expect more of it.
  if (args[0].is(Kind::kArray) && args[0].as_object->refs == 1 && !as_object<Array>(args[0])->items.empty()) {
    return retained(as_object<Array>(args[0])->items.front());
  }
  if (own == nullptr) {
    fail("next(): argument must be a generator or an object with next(), got " + type_name(args[0]),
         "iter() of an iterable returns one");
  }
  return thread.next_of(args[0], *own, value) ? value : at_end();
}

// next(x) in a program that catches StopIteration.
Value next_or_stop(Thread& thread, Value* args, int) {
  Value with_default[] = {args[0], Value::missing()};
  const Value value = next_value(thread, with_default, 2);
  if (value.is_missing()) {
    release(thread.call(library_function("std/exceptions", "stop_iteration"), nullptr, 0));
  }
  return value;
}

Value next_option(Thread& thread, Value* args, int) {
  Value value;
  return thread.resume(as_object<Generator>(args[0]), value) ? make_some(value) : make_none();
}

Value collect(Thread& thread, Value* args, int) {
  Ref items = Ref::owned(make_array({}));
  thread.each(args[0], [&](Value item) {
    as_object<Array>(items.get())->items.push_back(retained(item));
    return true;
  });
  return items.take();
}

// send(value): the value of the `yield` at which the generator waits; returns the next value, nil at the end.
Value send(Thread& thread, Value* args, int) {
  auto* generator = as_object<Generator>(args[0]);
  const bool waits = generator->state != Generator::State::kSuspended || generator->is_started();
  if (!waits && !args[1].is_nil()) {
    fail_arguments("send(): can't send a value to a generator that has not started", "call next() first");
  }
  Value value;
  const bool has_yielded = thread.continue_with({.sent = args[1], .thrown = nullptr}, generator, value);
  if (!has_yielded) {
    release(value);
  }
  return has_yielded ? value : Value();
}

// throw(error): raises the error at the `yield`; returns the next value, nil at the end.
Value throw_into(Thread& thread, Value* args, int) {
  auto* generator = as_object<Generator>(args[0]);
  try {
    release(thread.call(library_function("std/exceptions", "raise_again"), args + 1, 1));
  } catch (const SimpleError& error) {
    if (generator->state == Generator::State::kEnded) {
      throw;
    }
    if (!generator->is_started()) {
      end_generator(generator);
      throw;
    }
    Value value;
    const bool has_yielded = thread.continue_with({.sent = Value(), .thrown = &error}, generator, value);
    if (!has_yielded) {
      release(value);
    }
    return has_yielded ? value : Value();
  }
  return Value();
}

// close(): ends the generator; its deferred code, such as `finally`, runs.
Value close(Thread&, Value* args, int) {
  auto* generator = as_object<Generator>(args[0]);
  if (generator->state == Generator::State::kRunning) {
    fail("generator already executing", "a generator cannot close itself");
  }
  if (generator->state == Generator::State::kSuspended) {
    end_generator(generator);
  }
  return Value();
}

Value shown(Thread&, Value* args, int) { return make_text(display(args[0])); }

Value generator_of(Thread& thread, Value* args, int) {
  Ref made = Ref::owned(thread.call(args[0], nullptr, 0));
  if (!made.get().is(Kind::kGenerator)) {
    fail("generator(): argument must be a function that yields", "generator(\\: yield 1)");
  }
  return made.take();
}

}  // namespace

void install_generators() {
  static const NativeEntry methods[] = {{"next", next_option, 1, 1}, {"collect", collect, 1, 1},
                                        {"send", send, 2, 2},        {"throw", throw_into, 2, 2},
                                        {"close", close, 1, 1},      {"to_string", shown, 1, 1},
                                        {"to_text", shown, 1, 1}};
  add_methods(Kind::kGenerator, methods);
  static const NativeEntry functions[] = {{"generator", generator_of, 1, 1},
                                          {"next", next_value, 1, 2},
                                          {"__next_or_stop__", next_or_stop, 1, 1},
                                          {"collect", collect, 1, 1}};
  add_functions(functions);
}

}  // namespace spl
