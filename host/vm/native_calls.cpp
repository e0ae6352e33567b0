// Calls of Simple functions from native code: a window above the frames, and a nested interpreter loop.
#include <algorithm>
#include <utility>
#include <vector>

#include "host/values/module.h"
#include "host/vm/lock.h"
#include "host/vm/native_window.h"
#include "host/vm/safepoint.h"
#include "host/vm/thread.h"

namespace spl {

// Code of the library may hold handles that no object owns yet, so an interrupt must not stop it at any
// instruction. It handles errors of the user functions that it calls; an interrupt stops it at such calls.
bool may_stop(const Proto& proto) { return proto.module == nullptr || !proto.module->is_library; }

// Builds a window of `head`, borrowed, and the owned results of `argument(i)`. `start(window)` begins the
// call and returns whether it pushed a frame.
template <class Argument, class Start>
Value Thread::run_window(Value head, uint32_t count, Argument&& argument, Start&& start) {
  const uint32_t window = std::max(top(), native_top_);
  check_stack(window + count + 2);
  const NativeWindow guard(native_top_, window + count + 1);
  stack_[window] = retained(head);
  for (uint32_t i = 0; i < count; ++i) {
    stack_[window + 1 + i] = argument(i);
  }
  const uint32_t floor = frame_count_;
  try {
    if (start(window)) {
      run(floor);
    }
  } catch (...) {
    for (uint32_t i = window; i <= window + count; ++i) {
      assign(stack_[i], Value());
    }
    throw;
  }
  return std::exchange(stack_[window], Value());
}

// A safepoint of native code, between two elements or before a call. As at a call of Simple code, the thread
// may stop if the calling function or the called one is not of the library.
void Thread::native_safepoint(const Proto* callee) {
  if (!host_lock().wanted()) [[likely]] {
    return;
  }
  const bool callee_stops = callee != nullptr && may_stop(*callee);
  safepoint(callee_stops || frame_count_ == 0 || may_stop(*frames_[frame_count_ - 1].proto));
}

Value Thread::call(Value callee, const Value* args, int count) {
  const auto arguments = static_cast<uint32_t>(count);
  return run_window(
      callee, arguments, [&](uint32_t i) { return retained(args[i]); },
      [&](uint32_t window) { return start_call(window, arguments, nullptr); });
}

Value Thread::run_bound(Closure* closure, std::vector<Value>& values) {
  const auto arguments = static_cast<uint32_t>(values.size());
  return run_window(
      Value::object(closure), arguments, [&](uint32_t i) { return std::exchange(values[i], Value()); },
      [&](uint32_t window) {
        push_frame(closure, window + 1, window, kNoLvalue);
        return true;
      });
}

Value Thread::call_method_of(Value self, const Method& method, const Value* args, int count) {
  const auto arguments = static_cast<uint32_t>(count);
  return run_window(
      self, arguments, [&](uint32_t i) { return retained(args[i]); },
      [&](uint32_t window) { return start_method(method, window, arguments, nullptr, kNoLvalue); });
}

Value Thread::call_method(Value self, Symbol name, const Value* args, int count) {
  const auto arguments = static_cast<uint32_t>(count);
  Cache cache;
  cache.name = name;
  return run_window(
      self, arguments, [&](uint32_t i) { return retained(args[i]); },
      [&](uint32_t window) { return start_invoke(window, arguments, nullptr, cache); });
}

}  // namespace spl
