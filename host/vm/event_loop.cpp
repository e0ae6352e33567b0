#include "host/vm/event_loop.h"

#include "host/values/objects.h"
#include "host/vm/thread.h"

namespace spl {
namespace {

Value start_function, wait_function;  // guarded by the host lock

class OnEventLoop {
 public:
  OnEventLoop(Thread& thread, bool is_on) : thread_(thread), outer_(thread.is_on_event_loop()) {
    thread_.set_on_event_loop(is_on);
  }
  ~OnEventLoop() { thread_.set_on_event_loop(outer_); }
  OnEventLoop(const OnEventLoop&) = delete;
  OnEventLoop& operator=(const OnEventLoop&) = delete;

 private:
  Thread& thread_;
  bool outer_;
};

}  // namespace

void set_event_loop_functions(Value start, Value wait) {
  start_function = retained(start);
  wait_function = retained(wait);
}

Value run_on_event_loop(Thread& thread, Value body) {
  const OnEventLoop scope(thread, &thread != first_thread_here());
  return thread.call(body, nullptr, 0);
}

Value start_task(Thread& thread, Value future) { return thread.call(start_function, &future, 1); }

void suspend_until_finished(Thread& thread, Value task, Value future) {
  const Value arguments[] = {task, future};
  release(thread.call(wait_function, arguments, 2));
}

}  // namespace spl
