// Calls of Simple from native code: a window above the frames, and a nested run of the machine.
#include <algorithm>
#include <utility>
#include <vector>

#include "host/vm/native_window.h"
#include "host/vm/thread.h"

namespace spl {

// `head`, borrowed, and the owned values that `argument(i)` gives become a window; `start(window)` begins the
// call there and says whether a frame is to run.
template <class Argument, class Start>
Value Thread::run_window(Value head, uint32_t count, Argument&& argument, Start&& start) {
  const uint32_t window = std::max(top(), native_top_);
  need_room(window + count + 2);
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

Value Thread::call(Value callee, const Value* args, int count) {
  const auto given = static_cast<uint32_t>(count);
  return run_window(
      callee, given, [&](uint32_t i) { return retained(args[i]); },
      [&](uint32_t window) { return start_call(window, given, nullptr); });
}

Value Thread::run_bound(Closure* closure, std::vector<Value>& values) {
  const auto given = static_cast<uint32_t>(values.size());
  return run_window(
      Value::object(closure), given, [&](uint32_t i) { return std::exchange(values[i], Value()); },
      [&](uint32_t window) {
        push_frame(closure, window + 1, given, window, kNoPath);
        return true;
      });
}

Value Thread::call_method_of(Value self, const Method& method, const Value* args, int count) {
  const auto given = static_cast<uint32_t>(count);
  return run_window(
      self, given, [&](uint32_t i) { return retained(args[i]); },
      [&](uint32_t window) { return start_method(method, window, given, nullptr, kNoPath); });
}

Value Thread::call_method(Value self, Symbol name, const Value* args, int count) {
  const auto given = static_cast<uint32_t>(count);
  Cache cache;
  cache.name = name;
  return run_window(
      self, given, [&](uint32_t i) { return retained(args[i]); },
      [&](uint32_t window) { return start_invoke(window, given, nullptr, cache); });
}

}  // namespace spl
