// Leaving: resources and deferred code, frames given up after a failure.
#include <algorithm>
#include <optional>
#include <utility>

#include "host/interrupts/scopes.h"
#include "host/vm/direct.h"
#include "host/vm/thread.h"

namespace spl {

namespace {
constexpr uint32_t kFramesForLeaving = 200;
}

// A hundred thousand frames may have to be left because there was no room for one more, each with a drop() to
// run. If such a drop() could call as deep again, leaving would take hours.
class Thread::UnwindStackLimit {
 public:
  explicit UnwindStackLimit(Thread& thread) : thread_(thread), most_frames_(thread.most_frames_) {
    thread_.most_frames_ = std::min(most_frames_, thread_.frame_count_ + kFramesForLeaving);
    ++thread_.little_rooms_;
  }
  ~UnwindStackLimit() {
    thread_.most_frames_ = most_frames_;
    --thread_.little_rooms_;
  }
  UnwindStackLimit(const UnwindStackLimit&) = delete;
  UnwindStackLimit& operator=(const UnwindStackLimit&) = delete;

 private:
  Thread& thread_;
  uint32_t most_frames_;
};

void Thread::drop(Instance* instance) {
  if (little_rooms_ > 1) {
    return;
  }
  const InterruptsMasked masked;
  try {
    if (!direct_drop(*instance)) {
      release(call_method_of(Value::object(instance), *instance->record->drop, nullptr, 0));
    }
  } catch (SimpleError& error) {
    if (!error.located) {
      error.stack = stack();
    }
    report_lost(error, "drop() of " + name_of(instance->record->name));
  }
}

// The resource is already on the defer stack; if entering fails it must not be left.
Value Thread::enter_resource(Value resource) {
  static const Symbol enter = intern("__enter__");
  const Method* method = find_method(resource, enter);
  if (method == nullptr) {
    return retained(resource);
  }
  try {
    const Value entered = call_method_of(resource, *method, nullptr, 0);
    return entered.is_nil() ? retained(resource) : entered;
  } catch (...) {
    const Ref given_up = Ref::owned(defers_.back().value);
    defers_.pop_back();
    throw;
  }
}

void Thread::pop_frame_clearing() {
  Frame& frame = frames_[frame_count_ - 1];
  Value* registers = stack_ + frame.base;
  for (uint32_t i = 0; i < frame.proto->registers; ++i) {
    if (!registers[i].is_object()) {
      continue;
    }
    const Value old = registers[i];
    registers[i] = Value();
    release(old);
  }
  --frame_count_;
}

void Thread::run_defers(size_t height) {
  while (defers_.size() > height) {
    const Defer defer = defers_.back();
    defers_.pop_back();
    const Ref held = Ref::owned(defer.value);
    if (!defer.is_with) {
      release(call(defer.value, nullptr, 0));
      continue;
    }
    static const Symbol leave = intern("__exit__"), close = intern("close");
    const Value nothing;
    if (const Method* method = find_method(defer.value, leave)) {
      release(call_method_of(defer.value, *method, &nothing, 1));
    } else if (const Method* other = find_method(defer.value, close)) {
      release(call_method_of(defer.value, *other, nullptr, 0));
    }
  }
}

// Leaves frames after a failure: what was deferred runs, registers give up what they hold.
void Thread::unwind(uint32_t floor, bool too_deep) {
  while (frame_count_ > floor) {
    const Frame frame = frames_[frame_count_ - 1];
    std::optional<UnwindStackLimit> little;
    if (too_deep) {
      little.emplace(*this);
    }
    try {
      const InterruptsMasked masked;
      run_defers(frame.defers);
    } catch (const SimpleError& error) {
      report_lost(error, "deferred code while another error was propagating");
    }
    Value self;
    if (frame.place_path >= 0) {
      self = std::exchange(stack_[frame.base], Value());
    }
    pop_frame_clearing();
    if (frame.place_path >= 0) {
      store_path(frames_[frame_count_ - 1].proto->paths[static_cast<size_t>(frame.place_path)], self);
    }
  }
}

}  // namespace spl
