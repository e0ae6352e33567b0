#include "host/builtins/generator_externs.h"

#include "host/builtins/embedding.h"
#include "host/vm/failure.h"
#include "host/vm/generator.h"
#include "host/vm/thread.h"

namespace spl {
namespace {

Generator* generator_in(Value array) {
  const Value found = element(array);
  if (!found.is(Kind::kGenerator)) {
    fail("expected a generator, got " + type_name(found));
  }
  return as_object<Generator>(found);
}

// true and the value that the generator yields, or false and its result.
Value step(Thread& thread, Generator* generator, const Resumption& with) {
  Value value;
  const bool has_yielded = thread.continue_with(with, generator, value);
  return make_array({Value::boolean(has_yielded), value});
}

// The arguments are a generator and the value of its `yield`. Without a `yield` that waits, only nil can be
// sent; the result is then nil.
Value generator_send(Thread& thread, Value* args, int) {
  Generator* generator = generator_in(args[0]);
  const Value sent = element(args[0], 1);
  const bool waits = generator->state != Generator::State::kSuspended || generator->is_started();
  return waits || sent.is_nil() ? step(thread, generator, {.sent = sent, .thrown = nullptr}) : Value();
}

// The arguments are a generator and a Failure, which is raised at its `yield`; one that has ended raises it,
// too.
Value generator_throw(Thread& thread, Value* args, int) {
  Generator* generator = generator_in(args[0]);
  const SimpleError* error = error_behind(element(args[0], 1));
  if (error == nullptr) {
    fail("rt_generator_throw: expected a generator and a failure");
  }
  if (generator->state == Generator::State::kEnded) {
    throw SimpleError(*error);
  }
  return step(thread, generator, {.sent = Value(), .thrown = error});
}

constexpr NativeEntry kGeneratorExterns[] = {
    {"rt_generator_send", generator_send, 1, 1},
    {"rt_generator_throw", generator_throw, 1, 1},
};

}  // namespace

std::span<const NativeEntry> generator_externs() { return kGeneratorExterns; }

}  // namespace spl
