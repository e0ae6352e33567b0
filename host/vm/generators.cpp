// Generators: a frame that leaves the stack at each `yield`, and comes back.
#include "host/values/generator.h"

#include <algorithm>
#include <utility>

#include "host/builtins/builtins.h"
#include "host/interrupts/scopes.h"
#include "host/modules/module.h"
#include "host/vm/native_window.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

bool is_failure(Value v) {
  static const Symbol err = intern("Err");
  return v.is(Kind::kEnumValue) && as_object<EnumValue>(v)->type == core_types().result &&
         as_object<EnumValue>(v)->info().name == err;
}

}  // namespace

// The generator itself lies in the window below the registers: so a frame finds it, and it outlives the step.
bool Thread::resume(Generator* generator, Value& out) {
  if (generator->state == Generator::State::kEnded) {
    return false;
  }
  if (generator->state == Generator::State::kRunning) {
    fail("generator already executing", "a generator cannot request its own next value");
  }
  const uint32_t window = std::max(top(), native_top_);
  need_room(window + 1 + generator->proto().registers);
  const NativeWindow guard(native_top_, window + 1);
  assign(stack_[window], retained(Value::object(generator)));
  const uint32_t floor = frame_count_;
  put_back(generator, window);
  try {
    run(floor);
  } catch (...) {
    generator->state = Generator::State::kEnded;
    assign(stack_[window], Value());
    throw;
  }
  const Ref given = Ref::owned(std::exchange(stack_[window], Value()));
  if (generator->state == Generator::State::kRunning) {  // it has returned
    generator->state = Generator::State::kEnded;
    if (is_failure(given.get())) {  // of a `?`, which has nobody else to go to
      fail("a generator ended with " + display(given.get()), "yield a Result to report errors");
    }
    return false;
  }
  out = retained(given.get());
  return true;
}

void Thread::put_back(Generator* generator, uint32_t window) {
  push_frame(as_object<Closure>(generator->closure), window + 1, 0, window, kNoPath);
  frames_[frame_count_ - 1].pc = generator->next;
  std::copy(generator->registers.begin(), generator->registers.end(), stack_ + window + 1);
  std::fill(generator->registers.begin(), generator->registers.end(), Value());
  defers_.insert(defers_.end(), generator->defers.begin(), generator->defers.end());
  generator->defers.clear();
  generator->state = Generator::State::kRunning;
}

// Takes the frame off the stack; `yielded`, owned, stands in its window then.
void Thread::suspend(Value yielded) {
  const Frame& frame = frames_[frame_count_ - 1];
  auto* generator = as_object<Generator>(stack_[frame.result]);
  Value* registers = stack_ + frame.base;
  for (Value& kept : generator->registers) {
    kept = std::exchange(*registers++, Value());
  }
  const auto first = defers_.begin() + frame.defers;
  generator->defers.assign(first, defers_.end());
  defers_.erase(first, defers_.end());
  generator->next = frame.pc;
  generator->state = Generator::State::kWaiting;
  --frame_count_;
  assign(stack_[frame.result], yielded);
}

void Thread::run_left_defers(std::vector<Defer> defers) {
  const InterruptsMasked masked;
  const size_t height = defers_.size();
  defers_.insert(defers_.end(), defers.begin(), defers.end());
  while (defers_.size() > height) {
    try {
      run_defers(height);
    } catch (SimpleError& error) {
      if (!error.located) {
        error.stack = stack();
      }
      report_lost(error, "deferred code of an unfinished generator");
    }
  }
}

void end_generator(Generator* generator) {
  generator->state = Generator::State::kEnded;
  if (!generator->defers.empty()) {
    current_thread().run_left_defers(std::exchange(generator->defers, {}));
  }
  for (Value& kept : generator->registers) {
    release(std::exchange(kept, Value()));
  }
}

namespace {

// Of an object its own next() as a loop asks it: Some(x) is x.
Value next_or_nil(Thread& thread, Value* args, int) {
  static const Symbol next = intern("next");
  Value value;
  if (args[0].is(Kind::kGenerator)) {
    thread.resume(as_object<Generator>(args[0]), value);
    return value;
  }
  if (args[0].is(Kind::kIterator)) {
    Value state[2] = {args[0], Value::integer(0)};
    thread.iterate(state, value);
    return value;
  }
  const Method* const own = args[0].is(Kind::kInstance) ? thread.find_method(args[0], next) : nullptr;
  if (own == nullptr) {
    fail("next() takes a generator or an object with next(), not " + type_name(args[0]),
         "iter() of an iterable returns one");
  }
  thread.next_of(args[0], *own, value);
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

Value shown(Thread&, Value* args, int) { return make_text(display(args[0])); }

Value generator_of(Thread& thread, Value* args, int) {
  Ref made = Ref::owned(thread.call(args[0], nullptr, 0));
  if (!made.get().is(Kind::kGenerator)) {
    fail("generator() takes a function that yields", "generator(\\: yield 1)");
  }
  return made.take();
}

}  // namespace

void install_generators() {
  static const NativeEntry methods[] = {{"next", next_option, 1, 1},
                                        {"collect", collect, 1, 1},
                                        {"to_string", shown, 1, 1},
                                        {"to_text", shown, 1, 1}};
  add_methods(Kind::kGenerator, methods, std::size(methods));
  static const NativeEntry functions[] = {
      {"generator", generator_of, 1, 1}, {"next", next_or_nil, 1, 1}, {"collect", collect, 1, 1}};
  for (const NativeEntry& entry : functions) {
    builtins()[intern(entry.name)] = Value::object(new Native(entry.name, entry.fn, entry.least, entry.most));
  }
}

}  // namespace spl
