// Simple threads: each has its registers and frames; the host lock lets one run at a time.
#include "threads.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

#include "../builtins/builtins.h"
#include "../builtins/failure.h"
#include "../modules/module.h"
#include "lock.h"
#include "thread.h"

namespace spl {

namespace {

/// What a thread leaves behind. `result` is touched under the host lock only.
struct Outcome {
  std::mutex mutex;
  std::condition_variable changed;
  bool finished = false;
  bool joined = false;     // somebody has seen the result, or the error
  bool abandoned = false;  // nobody can see it any more
  Value result;            // owned
  std::unique_ptr<SimpleError> error;
};

struct ThreadObject : Object {
  std::shared_ptr<Outcome> outcome = std::make_shared<Outcome>();
  ThreadObject() : Object(Kind::kThread) {}
};

// The last that can be done for a finished thread that nobody will join.
void give_up(Outcome& outcome) {
  release(std::exchange(outcome.result, Value()));
  if (outcome.error && !outcome.joined)
    current_thread().report_lost(*outcome.error, "a thread that was never joined");
}

void finish(Outcome& outcome) {
  bool abandoned;
  {
    const std::lock_guard guard(outcome.mutex);
    outcome.finished = true;
    abandoned = outcome.abandoned;
  }
  outcome.changed.notify_all();
  if (abandoned)
    give_up(outcome);
}

// exit() ends the program, whichever thread calls it.
[[noreturn]] void exit_now(int code) {
  std::fflush(stdout);
  std::fflush(stderr);
  std::_Exit(code);
}

void run_thread(Value function, const std::shared_ptr<Outcome>& outcome) {
  host_lock().acquire();
  {
    Thread thread;
    try {
      outcome->result = thread.call(function, nullptr, 0);
    } catch (const SimpleError& error) {
      outcome->error = std::make_unique<SimpleError>(error);
    } catch (const ExitRequest& request) {
      exit_now(request.code);
    }
    release(function);
    finish(*outcome);
  }
  host_lock().release();
}

Value spawn(Thread&, Value* args, int) {
  auto* object = new ThreadObject();
  if (!host_lock().shared())
    host_lock().become_shared();
  std::thread(run_thread, retained(args[0]), object->outcome).detach();
  return Value::object(object);
}

// The thread's result; its failure is raised here. A second join gives the same.
Value join(Thread&, Value* args, int) {
  const std::shared_ptr<Outcome> outcome = static_cast<ThreadObject*>(args[0].as_object)->outcome;
  {
    const Unlocked unlocked;
    std::unique_lock guard(outcome->mutex);
    outcome->changed.wait(guard, [&] { return outcome->finished; });
    outcome->joined = true;
  }
  if (outcome->error)
    throw SimpleError(*outcome->error);
  return retained(outcome->result);
}

Value is_finished(Thread&, Value* args, int) {
  const auto& outcome = static_cast<ThreadObject*>(args[0].as_object)->outcome;
  const std::lock_guard guard(outcome->mutex);
  return Value::boolean(outcome->finished);
}

Value hand_over(Thread&, Value*, int) {
  if (host_lock().shared())
    host_lock().hand_over();
  return Value();
}

}  // namespace

void destroy_thread_handle(Object* object) {
  auto* thread = static_cast<ThreadObject*>(object);
  bool finished;
  {
    const std::lock_guard guard(thread->outcome->mutex);
    thread->outcome->abandoned = true;
    finished = thread->outcome->finished;
  }
  if (finished)
    give_up(*thread->outcome);
  delete thread;
}

void install_thread_methods() {
  static const NativeEntry methods[] = {{"join", join, 1, 1}, {"is_finished", is_finished, 1, 1}};
  add_methods(Kind::kThread, methods, std::size(methods));
  auto* module = new LoadedModule();
  module->name = "thread";
  module->state = LoadedModule::State::kReady;
  static const NativeEntry functions[] = {{"spawn", spawn, 1, 1}, {"yield_now", hand_over, 0, 0}};
  for (const NativeEntry& entry : functions)
    module->define(intern(entry.name),
                   Value::object(new Native(entry.name, entry.fn, entry.least, entry.most)));
  builtins()[intern("thread")] = Value::object(module);
}

}  // namespace spl
