// The thread that drains the queue of deferred memory.
#include "bridge/runtime/decref_worker.h"

#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "bridge/runtime/gil.h"
#include "bridge/runtime/interpreter.h"
#include "bridge/runtime/pending_release.h"

namespace simple_torch::bridge {
namespace {

constexpr auto kPause = std::chrono::milliseconds(2);
constexpr int kLooks = 50;  // without work, before it sleeps

// kStarting: begun, by a thread that may still be about to say so. kEnded: it is gone, or never was.
enum class State { kNone, kStarting, kLooking, kAsleep, kEnding, kEnded };
std::atomic<State> state{State::kNone};
sem_t work_or_end;
sigset_t signals_of_program;  // those blocked where it was begun
thread_local bool is_drainer = false;
bool has_run = false;  // guarded by the GIL

bool ending() { return state.load() == State::kEnding; }

/// Python code that runs here has the program's signals, and so have the processes that it starts.
void run_it() {
  sigset_t none_here;
  pthread_sigmask(SIG_SETMASK, &signals_of_program, &none_here);
  {
    const GilScope gil(GilScope::Entering::kBare);
    do {
      run_deferred_memory();
    } while (has_deferred_memory() && !ending());
    if (!std::exchange(has_run, true)) {
      stay_first_after_other_threads();
    }
  }
  pthread_sigmask(SIG_SETMASK, &none_here, nullptr);
}

/// Until there was no work for some time, or the end.
void look() {
  for (int idle = 0; idle < kLooks && !ending(); ++idle) {
    std::this_thread::sleep_for(kPause);
    if (has_deferred_memory() && !ending()) {
      run_it();
      idle = 0;
    }
  }
}

/// False at the end. What is queued after the look at the queue wakes it, by the order of both atomics.
bool sleep_until_work() {
  State looking = State::kLooking;
  if (!state.compare_exchange_strong(looking, State::kAsleep)) {
    return looking == State::kStarting;
  }
  State asleep = State::kAsleep;
  if (has_deferred_memory() && state.compare_exchange_strong(asleep, State::kLooking)) {
    return true;
  }
  while (sem_wait(&work_or_end) != 0) {
  }
  return !ending();
}

void* drain(void* /*nothing*/) {
  is_drainer = true;
  do {
    look();
  } while (sleep_until_work());
  state.store(State::kEnded);
  return nullptr;
}

/// Signals that are sent to the process are for threads that can tell somebody.
bool start_without_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &signals_of_program);
  pthread_t drainer{};
  const bool started = pthread_create(&drainer, nullptr, drain, nullptr) == 0 && pthread_detach(drainer) == 0;
  pthread_sigmask(SIG_SETMASK, &signals_of_program, nullptr);
  return started;
}

void begin() {
  State none = State::kNone;
  if (!state.compare_exchange_strong(none, State::kStarting)) {
    return;
  }
  sem_init(&work_or_end, 0, 0);
  state.store(start_without_signals() ? State::kLooking : State::kNone);
}

}  // namespace

void wake_worker() noexcept {
  State seen = state.load();
  if (seen == State::kNone) {
    begin();
  } else if (seen == State::kAsleep && state.compare_exchange_strong(seen, State::kLooking)) {
    sem_post(&work_or_end);
  }
}

void end_drainer() noexcept {
  State seen = state.load();
  while (seen != State::kEnding && seen != State::kEnded) {
    const State next = seen == State::kNone ? State::kEnded : State::kEnding;
    if (seen == State::kStarting) {
      std::this_thread::yield();
      seen = state.load();
    } else if (state.compare_exchange_weak(seen, next)) {
      if (seen == State::kAsleep) {
        sem_post(&work_or_end);
      }
      seen = next;
    }
  }
  while (!is_drainer && state.load() != State::kEnded) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void forget_drainer() noexcept {
  const State seen = state.load();
  state.store(seen == State::kEnding || seen == State::kEnded ? State::kEnded : State::kNone);
}

}  // namespace simple_torch::bridge
