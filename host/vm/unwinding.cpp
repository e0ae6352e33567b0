// Deferred code, resources of `with`, drop(), and the unwinding of frames after an error.
#include <algorithm>
#include <optional>
#include <utility>

#include "host/interrupts/scopes.h"
#include "host/vm/machine_hooks.h"
#include "host/vm/thread.h"

namespace spl {

namespace {
constexpr uint32_t kFramesWhileUnwinding = 200;
}

// Limits the stack for code that runs while an exhausted stack unwinds. A hundred thousand frames may each
// run a drop(). If every drop() could exhaust the stack again, unwinding would take hours.
class Thread::UnwindStackLimit {
 public:
  explicit UnwindStackLimit(Thread& thread) : thread_(thread), max_frames_(thread.max_frames_) {
    thread_.max_frames_ = std::min(max_frames_, thread_.frame_count_ + kFramesWhileUnwinding);
    ++thread_.unwind_limits_;
  }
  ~UnwindStackLimit() {
    thread_.max_frames_ = max_frames_;
    --thread_.unwind_limits_;
  }
  UnwindStackLimit(const UnwindStackLimit&) = delete;
  UnwindStackLimit& operator=(const UnwindStackLimit&) = delete;

 private:
  Thread& thread_;
  uint32_t max_frames_;
};

void Thread::drop(Instance* instance) {
  if (unwind_limits_ > 1) {
    return;
  }
  const InterruptsMasked masked;
  try {
    if (!machine_hooks().direct_drop(*instance)) {
      release(call_method_of(Value::object(instance), *instance->record->drop, nullptr, 0));
    }
  } catch (SimpleError& error) {
    if (!error.located) {
      error.stack = stack();
    }
    report_lost(error, "drop() of " + name_of(instance->record->name));
  }
}

// The resource is already on the defer stack. If __enter__ fails, __exit__ must not run.
Value Thread::enter_resource(Value resource) {
  static const Symbol enter_hook = intern("__enter__");
  const Method* method = find_method(resource, enter_hook);
  if (method == nullptr) {
    return retained(resource);
  }
  try {
    const Value entered = call_method_of(resource, *method, nullptr, 0);
    return entered.is_nil() ? retained(resource) : entered;
  } catch (...) {
    const Ref resource_ref = Ref::owned(defers_.back().value);
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
    static const Symbol exit_hook = intern("__exit__"), close = intern("close");
    const Value nothing;
    if (const Method* method = find_method(defer.value, exit_hook)) {
      release(call_method_of(defer.value, *method, &nothing, 1));
    } else if (const Method* other = find_method(defer.value, close)) {
      release(call_method_of(defer.value, *other, nullptr, 0));
    }
  }
}

// Pops frames after an error: runs their deferred code and releases their registers.
void Thread::unwind(uint32_t floor, bool too_deep) {
  while (frame_count_ > floor) {
    const Frame frame = frames_[frame_count_ - 1];
    std::optional<UnwindStackLimit> limit;
    if (too_deep) {
      limit.emplace(*this);
    }
    try {
      const InterruptsMasked masked;
      run_defers(frame.defers);
    } catch (const SimpleError& error) {
      report_lost(error, "deferred code while another error was propagating");
    }
    Value self;
    if (frame.lvalue_index >= 0) {
      self = taken_self(stack_[frame.base]);
    }
    pop_frame_clearing();
    if (frame.lvalue_index >= 0) {
      store_path(frames_[frame_count_ - 1].proto->paths[static_cast<size_t>(frame.lvalue_index)], self);
    }
  }
}

}  // namespace spl
