// Simple threads. Each has its own registers and frames; the host lock lets one run at a time.
#include "host/vm/threads.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "host/installation.h"
#include "host/interrupts/interrupts.h"
#include "host/interrupts/scopes.h"
#include "host/output.h"
#include "host/values/module.h"
#include "host/vm/event_loop.h"
#include "host/vm/failure.h"
#include "host/vm/lock.h"
#include "host/vm/lost_errors.h"
#include "host/vm/machine_hooks.h"
#include "host/vm/natives.h"
#include "host/vm/safepoint.h"
#include "host/vm/signal_check.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

/// The result of a thread. The host lock guards `result` and `waits_for`.
struct Outcome {
  std::mutex mutex;
  std::condition_variable changed;
  const Outcome* waits_for = nullptr;  // the thread that this one joins
  bool finished = false;
  bool is_future = false;  // an async function
  bool joined = false;     // join() or await returned the result or raised the error
  bool abandoned = false;  // the handle is gone
  bool ran_in_caller = false;
  Value result;  // owned
  std::unique_ptr<SimpleError> error;
};

/// A call of an async function that has not begun.
struct PendingCall {
  Ref closure;
  std::vector<Value> values;  // owned

  PendingCall(Closure* called, std::vector<Value> bound)
      : closure(Ref::shared(Value::object(called))), values(std::move(bound)) {}
  ~PendingCall() {
    for (const Value value : values) {
      release(value);
    }
  }
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;
};

struct ThreadObject : Object {
  std::shared_ptr<Outcome> outcome = std::make_shared<Outcome>();
  Value task;                         // owned: the task of an event loop that runs it; nil for a thread
  std::unique_ptr<PendingCall> call;  // of a task
  explicit ThreadObject(bool is_future) : Object(Kind::kThread) { outcome->is_future = is_future; }
};

thread_local Outcome* current_outcome = nullptr;  // of the current thread; null on the main thread

// Releases the result of a finished thread without a handle, and reports its error.
void discard(Outcome& outcome) {
  release(std::exchange(outcome.result, Value()));
  if (outcome.error && !std::exchange(outcome.joined, true)) {
    report_lost(*outcome.error, outcome.is_future ? "an async function that was never awaited"
                                                  : "a thread that was never joined");
  }
}

// Outcomes with errors that were not joined. Guarded by the host lock. Not destroyed at exit: that would run
// the program's destructors without the lock.
std::vector<std::shared_ptr<Outcome>>& unseen() {
  static auto& all = *new std::vector<std::shared_ptr<Outcome>>;
  return all;
}

// Outcomes of running threads. Guarded by the host lock.
std::vector<std::shared_ptr<Outcome>>& running() {
  static auto& all = *new std::vector<std::shared_ptr<Outcome>>;
  return all;
}

void finish(Outcome& outcome) {
  bool abandoned;
  {
    const std::lock_guard guard(outcome.mutex);
    outcome.finished = true;
    abandoned = outcome.abandoned;
  }
  outcome.changed.notify_all();
  if (abandoned) {
    discard(outcome);
  }
}

constexpr int kMaxFutureThreads = 64;  // further futures run synchronously in the caller
int future_threads = 0;                // guarded by the host lock

// Stores the result of `body`, or its error.
template <class Body>
void settle(Outcome& outcome, Body&& body) {
  try {
    outcome.result = body();
  } catch (const SimpleError& error) {
    outcome.error = std::make_unique<SimpleError>(error);
  } catch (const std::bad_alloc&) {
    outcome.error = std::make_unique<SimpleError>("out of memory");
  } catch (const std::exception& error) {
    outcome.error = std::make_unique<SimpleError>(error.what());
  }
}

// Starts a detached native thread. The system may fail to create one.
template <class Function, class... Arguments>
void start_thread(const std::shared_ptr<Outcome>& outcome, Function&& function, Arguments&&... arguments) {
  running().push_back(outcome);
  try {
    std::thread(std::forward<Function>(function), std::forward<Arguments>(arguments)..., outcome).detach();
  } catch (const std::system_error&) {
    running().pop_back();
    fail("cannot start more threads", "join running threads first");
  }
}

// The main function of a Simple thread: runs `body` and stores its result. The reference to the outcome may
// be the last one, so it ends while the thread holds the host lock: the error may own objects of the program.
template <class Body>
void run_to_end(std::shared_ptr<Outcome> outcome, Body&& body) {
  const ActiveThread active;
  host_lock().acquire();
  current_outcome = outcome.get();
  const bool is_future = outcome->is_future;
  {
    std::optional<Thread> thread;
    try {
      settle(*outcome, [&] { return body(thread.emplace()); });
    } catch (const ExitRequest& request) {
      end_own_program(request.code);
      outcome->error = std::make_unique<SimpleError>(exit_not_allowed(request.code));
    }
    if (outcome->error) {
      std::erase_if(unseen(), [](const auto& earlier) { return earlier->joined; });
      unseen().push_back(outcome);
    }
    std::erase(running(), outcome);
    finish(*outcome);
    current_outcome = nullptr;
    outcome.reset();
  }
  if (is_future) {
    --future_threads;
  }
  host_lock().release();
}

void run_thread(Value function, std::shared_ptr<Outcome> outcome) {
  run_to_end(std::move(outcome), [&](Thread& thread) {
    const Ref held = Ref::owned(function);
    return thread.call(function, nullptr, 0);
  });
}

Value run_future(Thread& thread, Closure* closure, std::vector<Value>& values) {
  const Ref held = Ref::owned(Value::object(closure));
  return thread.run_bound(closure, values);
}

void run_future_thread(Closure* closure, std::vector<Value> values, std::shared_ptr<Outcome> outcome) {
  run_to_end(std::move(outcome), [&](Thread& thread) { return run_future(thread, closure, values); });
}

void share_lock() {
  if (!host_lock().shared()) {
    host_lock().become_shared();
  }
}

Value spawn(Thread&, Value* args, int) {
  auto* object = new ThreadObject(false);
  Ref handle = Ref::owned(Value::object(object));
  share_lock();
  Ref function = Ref::shared(args[0]);
  start_thread(object->outcome, run_thread, function.get());
  function.take();  // the thread owns it
  return handle.take();
}

void check_deadlock(const Outcome& target) {
  if (current_outcome == nullptr || target.finished) {
    return;
  }
  if (&target == current_outcome) {
    fail("a thread cannot wait for itself");
  }
  for (const Outcome* at = target.waits_for; at != nullptr; at = at->waits_for) {
    if (at == current_outcome) {
      fail("deadlock: these threads would wait for each other",
           "the joined thread is itself joining this thread");
    }
  }
}

/// Records which thread the current one waits for, so that a deadlock is detected.
class WaitingFor {
 public:
  explicit WaitingFor(const Outcome* outcome) {
    if (current_outcome != nullptr) {
      current_outcome->waits_for = outcome;
    }
  }
  ~WaitingFor() {
    if (current_outcome != nullptr) {
      current_outcome->waits_for = nullptr;
    }
  }
  WaitingFor(const WaitingFor&) = delete;
  WaitingFor& operator=(const WaitingFor&) = delete;

 private:
  BlockedThread waiting_;
};

// Waits for the end of a thread. Returns false early if an interrupt or another signal must end the wait.
bool wait_interruptibly(Outcome& outcome) {
  constexpr auto kPart = std::chrono::milliseconds(20);
  const Unlocked unlocked;
  std::unique_lock guard(outcome.mutex);
  const auto is_finished = [&] { return outcome.finished; };
  if (!is_first_thread() && !is_embedded() && !InterruptsAllowed::is_this_thread()) {
    outcome.changed.wait(guard, is_finished);  // an interrupt ends the program on the running thread
  } else {
    while (!outcome.changed.wait_for(guard, kPart, is_finished) && !is_signal_check_due() &&
           !(may_be_interrupted() && is_interrupt_requested())) {
    }
  }
  outcome.joined = outcome.joined || outcome.finished;
  return outcome.finished;
}

// Waits for a thread and returns its result, or raises its error with the stacks of both threads. It can be
// called more than once.
Value result_of(Thread& thread, Value handle) {
  // The handle may be destroyed during the wait.
  const std::shared_ptr<Outcome> outcome = static_cast<ThreadObject*>(handle.as_object)->outcome;
  if (thread.is_on_event_loop() && !outcome->finished) {
    const Ref held = Ref::shared(handle);
    suspend_until_finished(thread, static_cast<ThreadObject*>(handle.as_object)->task, handle);
  }
  check_deadlock(*outcome);
  const WaitingFor waiting(outcome.get());
  while (!wait_interruptibly(*outcome)) {
    safepoint();
  }
  if (outcome->error) {
    SimpleError error(*outcome->error);
    const std::vector<StackEntry> here = thread.stack();
    constexpr size_t kMaxEntries = 1000;  // each thread of a long chain adds its own
    if (error.stack.size() < kMaxEntries && !outcome->ran_in_caller) {
      error.stack.insert(error.stack.end(), here.begin(), here.end());
    }
    throw error;
  }
  return retained(outcome->result);
}

Value join(Thread& thread, Value* args, int) { return result_of(thread, args[0]); }

Value is_finished(Thread&, Value* args, int) {
  const auto& outcome = static_cast<ThreadObject*>(args[0].as_object)->outcome;
  const std::lock_guard guard(outcome->mutex);
  return Value::boolean(outcome->finished);
}

// A number that is unique in the process.
Value number_of_this(Thread&, Value*, int) {
  static std::atomic<int64_t> given{0};
  thread_local const int64_t number = given++;
  return Value::integer(number);
}

Value hand_over(Thread&, Value*, int) {
  if (host_lock().shared()) {
    host_lock().hand_over();
  }
  return Value();
}

}  // namespace

void end_own_program(int code) {
  if (is_embedded()) {
    return;
  }
  flush_or_note();
  {
    const Unlocked unlocked;
    machine_hooks().notify_libraries_of_exit();
  }
  code = flush_at_end(code);
  std::fflush(stderr);
  std::_Exit(code);
}

void forget_other_threads() {
  reset_scopes_after_fork();
  for (const auto& outcome : running()) {
    if (outcome.get() == current_outcome) {
      continue;
    }
    new (&outcome->mutex) std::mutex;  // another thread may have locked it
    new (&outcome->changed) std::condition_variable;
    outcome->error = std::make_unique<SimpleError>("this thread does not run in the forked process",
                                                   "join it in the process that started it");
    outcome->finished = true;
    outcome->joined = true;  // no warning about an unjoined thread
    if (outcome->is_future) {
      --future_threads;
    }
  }
  std::erase_if(running(), [](const auto& outcome) { return outcome.get() != current_outcome; });
}

namespace {

// False where no event loop runs that could have the task.
bool start_in_task(ThreadObject* future, Closure* closure, std::vector<Value>& values) {
  future->call = std::make_unique<PendingCall>(closure, std::move(values));
  Ref task = Ref::owned(start_task(current_thread(), Value::object(future)));
  if (task.get().is_nil()) {
    values = std::move(future->call->values);
    future->call->values.clear();
    future->call = nullptr;
    return false;
  }
  if (!future->outcome->finished) {  // an eager task may have run
    future->task = task.take();
  }
  return true;
}

void run_in_caller(ThreadObject* future, Closure* closure, std::vector<Value>& values) {
  future->outcome->ran_in_caller = true;
  settle(*future->outcome, [&] { return current_thread().run_bound(closure, values); });
  finish(*future->outcome);
}

// The task holds the future, which must not hold the task any longer.
void finish_task(ThreadObject* future) {
  finish(*future->outcome);
  release(std::exchange(future->task, Value()));
}

}  // namespace

void run_future_in_task(Value future) {
  const Ref held = Ref::shared(future);
  auto* object = static_cast<ThreadObject*>(future.as_object);
  const std::unique_ptr<PendingCall> call = std::exchange(object->call, nullptr);
  if (call == nullptr) {
    return;
  }
  settle(*object->outcome,
         [&] { return current_thread().run_bound(as_object<Closure>(call->closure.get()), call->values); });
  finish_task(object);
}

void end_future_without_run(Value future) {
  auto* object = static_cast<ThreadObject*>(future.as_object);
  if (std::exchange(object->call, nullptr) != nullptr) {
    object->outcome->error = std::make_unique<SimpleError>("the task was cancelled before it ran");
    object->outcome->joined = true;  // no warning if it is never awaited
    finish_task(object);
  }
}

Value start_future(Closure* closure, std::vector<Value> values, bool is_awaited_at_once) {
  auto* object = new ThreadObject(true);
  Ref future = Ref::owned(Value::object(object));
  const bool is_on_event_loop = current_thread().is_on_event_loop();
  if (is_on_event_loop && !is_awaited_at_once && start_in_task(object, closure, values)) {
    return future.take();
  }
  if (future_threads >= kMaxFutureThreads || (is_on_event_loop && is_awaited_at_once)) {
    run_in_caller(object, closure, values);
    return future.take();
  }
  retained(Value::object(closure));
  share_lock();
  try {
    start_thread(object->outcome, run_future_thread, closure, values);
  } catch (...) {
    for (const Value value : values) {
      release(value);
    }
    release(Value::object(closure));
    throw;
  }
  ++future_threads;  // the new thread needs the host lock before it decrements this
  return future.take();
}

Value awaited(Value value) {
  static const Symbol hook = intern("__await__");
  if (value.is(Kind::kInstance)) {
    const Method* wait = current_thread().find_method(value, hook);
    return wait == nullptr ? retained(value) : current_thread().call_method_of(value, *wait, nullptr, 0);
  }
  if (!value.is(Kind::kThread)) {
    return retained(value);
  }
  return result_of(current_thread(), value);
}

bool is_future(Value v) {
  return v.is(Kind::kThread) && static_cast<ThreadObject*>(v.as_object)->outcome->is_future;
}

void report_unseen_failures() {
  for (const auto& outcome : unseen()) {
    discard(*outcome);
  }
}

void destroy_thread_handle(Object* object) {
  auto* thread = static_cast<ThreadObject*>(object);
  bool finished;
  {
    const std::lock_guard guard(thread->outcome->mutex);
    thread->outcome->abandoned = true;
    finished = thread->outcome->finished;
  }
  if (finished) {
    discard(*thread->outcome);
  }
  release(thread->task);
  delete thread;
}

void install_thread_methods() {
  static const NativeEntry methods[] = {{"join", join, 1, 1}, {"is_finished", is_finished, 1, 1}};
  add_methods(Kind::kThread, methods);
  auto* module = new LoadedModule();
  module->name = "thread";
  module->state = LoadedModule::State::kReady;
  static const NativeEntry functions[] = {
      {"spawn", spawn, 1, 1}, {"yield_now", hand_over, 0, 0}, {"id", number_of_this, 0, 0}};
  for (const NativeEntry& entry : functions) {
    module->define(intern(entry.name),
                   Value::object(new Native(entry.name, entry.fn, entry.min_arguments, entry.max_arguments)));
  }
  builtins()[intern("thread")] = Value::object(module);
}

}  // namespace spl
