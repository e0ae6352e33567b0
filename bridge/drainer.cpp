// The thread that drains the queue of deferred work.
#include "bridge/drainer.h"

#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "bridge/deferred.h"
#include "bridge/gil.h"

namespace simple_torch::bridge {
namespace {

constexpr auto kPause = std::chrono::milliseconds(2);
constexpr int kLooks = 50;  // without work, before it sleeps

enum class State { kNone, kStarting, kLooking, kAsleep, kEnding };
std::atomic<State> state{State::kNone};
sem_t work_or_end;
pthread_t drainer;  // joinable in kLooking and kAsleep

bool ending() { return state.load() == State::kEnding; }

/// Until there was no work for some time, or the end.
void look() {
  for (int idle = 0; idle < kLooks && !ending(); ++idle) {
    std::this_thread::sleep_for(kPause);
    if (has_deferred_work() && !ending()) {
      const GilScope runs_it;
      idle = 0;
    }
  }
}

/// False at the end. What is queued after the look at the queue wakes it, by the order of both atomics.
bool sleep_until_work() {
  State looking = State::kLooking;
  if (!state.compare_exchange_strong(looking, State::kAsleep)) {
    return false;
  }
  State asleep = State::kAsleep;
  if (has_deferred_work() && state.compare_exchange_strong(asleep, State::kLooking)) {
    return true;
  }
  while (sem_wait(&work_or_end) != 0) {
  }
  return !ending();
}

void* drain(void* /*nothing*/) {
  do {
    look();
  } while (sleep_until_work());
  return nullptr;
}

/// Signals are for threads that can tell somebody.
bool start_without_signals() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&drainer, nullptr, drain, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

/// A forked process has none of its parent's threads.
void forget_drainer() {
  if (!ending()) {
    state.store(State::kNone);
  }
}

void begin() {
  State none = State::kNone;
  if (!state.compare_exchange_strong(none, State::kStarting)) {
    return;
  }
  static const int told_of_forks = pthread_atfork(nullptr, nullptr, forget_drainer);
  sem_init(&work_or_end, 0, 0);
  const bool started = told_of_forks == 0 && start_without_signals();
  state.store(started ? State::kLooking : State::kNone);
}

}  // namespace

void see_to_deferred_work() noexcept {
  State seen = state.load();
  if (seen == State::kNone) {
    begin();
  } else if (seen == State::kAsleep && state.compare_exchange_strong(seen, State::kLooking)) {
    sem_post(&work_or_end);
  }
}

void end_drainer() noexcept {
  State seen = state.load();
  while (seen == State::kStarting || !state.compare_exchange_weak(seen, State::kEnding)) {
    seen = state.load();
  }
  if (seen == State::kLooking || seen == State::kAsleep) {
    sem_post(&work_or_end);
    pthread_join(drainer, nullptr);
  }
}

}  // namespace simple_torch::bridge
