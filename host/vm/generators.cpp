// Generators: a frame that leaves the stack at each `yield` and returns to it at the next step.
#include "host/vm/generator.h"

#include <algorithm>
#include <utility>

#include "host/interrupts/scopes.h"
#include "host/values/module.h"
#include "host/vm/lost_errors.h"
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

bool Thread::resume(Generator* generator, Value& out) {
  Value value;
  if (continue_with({}, generator, value)) {
    out = value;
    return true;
  }
  release(value);
  return false;
}

// The window holds the generator below its registers, so that the frame can find it and keeps it alive.
bool Thread::continue_with(const Resumption& with, Generator* generator, Value& out) {
  if (generator->state == Generator::State::kEnded) {
    return false;
  }
  if (generator->state == Generator::State::kRunning) {
    fail("generator already executing", "a generator cannot request its own next value");
  }
  const uint32_t window = std::max(top(), native_top_);
  check_stack(window + 1 + generator->proto().registers);
  const NativeWindow guard(native_top_, window + 1);
  assign(stack_[window], retained(Value::object(generator)));
  const uint32_t floor = frame_count_;
  restore(generator, window);
  try {
    continue_generator(floor, with);
  } catch (...) {
    generator->state = Generator::State::kEnded;
    assign(stack_[window], Value());
    throw;
  }
  const Ref result = Ref::owned(std::exchange(stack_[window], Value()));
  if (generator->state == Generator::State::kRunning) {  // it returned
    generator->state = Generator::State::kEnded;
    if (is_failure(result.get())) {  // from a `?`; the caller cannot see the result
      fail("a generator ended with " + display(result.get()), "yield a Result to report errors");
    }
    out = retained(result.get());
    return false;
  }
  out = retained(result.get());
  return true;
}

// Runs the restored frame from its `yield`. A resource of a `with` may handle an error that is raised there.
void Thread::continue_generator(uint32_t floor, const Resumption& with) {
  const Frame& frame = frames_[frame_count_ - 1];
  if (with.thrown != nullptr) {
    SimpleError error(*with.thrown);
    locate(error);
    if (!unwind(floor, error)) {
      throw error;
    }
  } else if (!with.sent.is_nil()) {
    const Instruction& yield = frame.pc[-1];
    assign(stack_[frame.base + yield.a], retained(with.sent));
  }
  run(floor);
}

void Thread::restore(Generator* generator, uint32_t window) {
  push_frame(as_object<Closure>(generator->closure), window + 1, window, kNoLvalue);
  frames_[frame_count_ - 1].pc = generator->next;
  std::copy(generator->registers.begin(), generator->registers.end(), stack_ + window + 1);
  std::fill(generator->registers.begin(), generator->registers.end(), Value());
  defers_.insert(defers_.end(), generator->defers.begin(), generator->defers.end());
  generator->defers.clear();
  generator->state = Generator::State::kRunning;
}

// Removes the frame from the stack and stores `yielded`, owned, in its window.
void Thread::suspend(Value yielded) {
  const Frame& frame = frames_[frame_count_ - 1];
  auto* generator = as_object<Generator>(stack_[frame.result]);
  Value* registers = stack_ + frame.base;
  for (Value& slot : generator->registers) {
    slot = std::exchange(*registers++, Value());
  }
  const auto first = defers_.begin() + frame.defers;
  generator->defers.assign(first, defers_.end());
  defers_.erase(first, defers_.end());
  generator->next = frame.pc;
  generator->state = Generator::State::kSuspended;
  --frame_count_;
  assign(stack_[frame.result], yielded);
}

void Thread::run_leftover_defers(std::vector<Defer> defers) {
  constexpr const char* kPlace = "deferred code of an unfinished generator";
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
      report_lost(error, kPlace);
    } catch (const ExitRequest& request) {
      report_lost_exit(request, kPlace);
    }
  }
}

void end_generator(Generator* generator) {
  generator->state = Generator::State::kEnded;
  if (!generator->defers.empty()) {
    current_thread().run_leftover_defers(std::exchange(generator->defers, {}));
  }
  for (Value& slot : generator->registers) {
    release(std::exchange(slot, Value()));
  }
}

void destroy_generator(Generator* generator) {
  generator->refs = 1;
  end_generator(generator);
  if (--generator->refs != 0) {
    return;  // its deferred code stored a reference
  }
  release(generator->closure);
  delete generator;
}

}  // namespace spl
