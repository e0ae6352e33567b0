// Deferred code, resources of `with`, drop(), and the unwinding of frames after an error.
#include <algorithm>
#include <optional>
#include <utility>

#include "host/interrupts/scopes.h"
#include "host/vm/failure.h"
#include "host/vm/lost_errors.h"
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
  const auto place = [instance] { return "drop() of " + name_of(instance->record->name); };
  try {
    if (!machine_hooks().direct_drop(*instance)) {
      release(call_method_of(Value::object(instance), *instance->record->drop, nullptr, 0));
    }
  } catch (SimpleError& error) {
    if (!error.located) {
      error.stack = stack();
    }
    report_lost(error, place());
  } catch (const ExitRequest& request) {
    report_lost_exit(request, place());
  }
}

namespace {
// Another language's object: what its __enter__ returns is bound, also nil.
bool is_foreign(Value resource) {
  return resource.is(Kind::kInstance) && as_object<Instance>(resource)->record->as_declared != nullptr;
}
}  // namespace

// The resource is already on the defer stack. If __enter__ fails, __exit__ must not run.
Value Thread::enter_resource(Value resource) {
  static const Symbol enter_hook = intern("__enter__");
  const Method* method = find_method(resource, enter_hook);
  if (method == nullptr) {
    return retained(resource);
  }
  try {
    const Value entered = call_method_of(resource, *method, nullptr, 0);
    return entered.is_nil() && !is_foreign(resource) ? retained(resource) : entered;
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

namespace {
Symbol exit_hook() {
  static const Symbol name = intern("__exit__");
  return name;
}

// An `__exit__` that is declared `-> bool`, or with Python's parameters, decides about the error: true
// handles it, and an error of its own replaces it. Python's parameters: `__exit__(self, type, error,
// traceback)` or `__exit__(self, *error)`.
bool has_parameters_of_python(const Method& exit) {
  const Proto& proto = *as_object<Closure>(exit.function)->proto;
  return proto.parameters.size() == 4 || (proto.parameters.size() == 2 && proto.rest == 1);
}

bool decides_about_errors(const Method& exit) {
  return as_object<Closure>(exit.function)->proto->returns_bool || has_parameters_of_python(exit);
}
}  // namespace

Value Thread::call_exit(Value resource, const Method& exit, Value failure) {
  if (!has_parameters_of_python(exit)) {
    return call_method_of(resource, exit, &failure, 1);
  }
  if (failure.is_nil()) {
    const Value nothing[3];
    return call_method_of(resource, exit, nothing, 3);
  }
  const Ref arguments =
      Ref::owned(call(machine_hooks().library_function("std/exceptions", "exit_arguments"), &failure, 1));
  return call_method_of(resource, exit, as_object<Array>(arguments.get())->items.data(), 3);
}

bool Thread::exit_handles(Value resource, const Method& exit, Value failure) {
  const Ref result = Ref::owned(call_exit(resource, exit, failure));
  return decides_about_errors(exit) && truthy(result.get());
}

void Thread::run_deferred(const Defer& defer) {
  if (defer.with_block == nullptr) {
    release(call(defer.value, nullptr, 0));
    return;
  }
  static const Symbol close = intern("close");
  const Value nothing;
  if (const Method* method = find_method(defer.value, exit_hook())) {
    release(call_exit(defer.value, *method, nothing));
  } else if (const Method* other = find_method(defer.value, close)) {
    release(call_method_of(defer.value, *other, nullptr, 0));
  }
}

void Thread::run_defers(size_t height) {
  while (defers_.size() > height) {
    const Defer defer = defers_.back();
    defers_.pop_back();
    const Ref held = Ref::owned(defer.value);
    run_deferred(defer);
  }
}

// Runs deferred code while `error` propagates. Returns the `with` block whose resource handled the error,
// else null.
const Instruction* Thread::fail_out_of(const Defer& defer, SimpleError& error) {
  const Method* exit = defer.with_block == nullptr ? nullptr : find_method(defer.value, exit_hook());
  try {
    if (exit == nullptr) {
      run_deferred(defer);
      return nullptr;
    }
    const Ref failure = Ref::owned(to_failure(error));
    return exit_handles(defer.value, *exit, failure.get()) ? defer.with_block : nullptr;
  } catch (const SimpleError& later) {
    if (exit != nullptr && decides_about_errors(*exit)) {
      error = later;
    } else {
      report_lost(later, "deferred code while another error was propagating");
    }
    return nullptr;
  }
}

const Instruction* Thread::leave_frame(const Frame& frame, SimpleError& error) {
  const InterruptsMasked masked;
  while (defers_.size() > frame.defers) {
    const Defer defer = defers_.back();
    defers_.pop_back();
    const Ref held = Ref::owned(defer.value);
    if (const Instruction* with_block = fail_out_of(defer, error)) {
      return with_block;
    }
  }
  return nullptr;
}

// Continues the last frame at the end of the block. Temporaries of expressions that the error cut short are
// released.
void Thread::continue_after(const Instruction* with_block) {
  Frame& frame = frames_[frame_count_ - 1];
  frame.pc = with_block + with_block->d;
  for (uint32_t i = frame.proto->locals + with_block->a; i < frame.proto->registers; ++i) {
    release(std::exchange(stack_[frame.base + i], Value()));
  }
}

// Pops frames after an error: runs their deferred code and releases their registers. True if the resource of
// a `with` block handled the error: the frame of the block is then the last one.
bool Thread::unwind(uint32_t floor, SimpleError& error) {
  while (frame_count_ > floor) {
    const Frame frame = frames_[frame_count_ - 1];
    std::optional<UnwindStackLimit> limit;  // also for drop() of what the registers hold
    if (error.too_deep) {
      limit.emplace(*this);
    }
    if (const Instruction* with_block = leave_frame(frame, error)) {
      continue_after(with_block);
      return true;
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
  return false;
}

}  // namespace spl
