// The thread that drains the queue of pending memory.
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

constexpr auto kPollInterval = std::chrono::milliseconds(2);
constexpr int kIdlePolls = 50;  // polls without work before it sleeps

// kStarting: the starting thread has not stored kPolling yet. kStopped: the worker has ended or never ran.
enum class State { kNone, kStarting, kPolling, kSleeping, kStopping, kStopped };
std::atomic<State> state{State::kNone};
sem_t wake_semaphore;
sigset_t program_signal_mask;  // of the thread that started the worker
thread_local bool is_worker = false;
bool has_run = false;  // guarded by the GIL

bool is_stopping() { return state.load() == State::kStopping; }

/// Python code that runs here, and the processes that it starts, use the program's signal mask.
void drain_with_gil() {
  sigset_t worker_mask;
  pthread_sigmask(SIG_SETMASK, &program_signal_mask, &worker_mask);
  {
    const GilScope gil(GilScope::OnEnter::kSkipDrain);
    do {
      drain_pending_memory();
    } while (has_pending_memory() && !is_stopping());
    if (!std::exchange(has_run, true)) {
      register_exit_handler_again();
    }
  }
  pthread_sigmask(SIG_SETMASK, &worker_mask, nullptr);
}

/// Returns after a period without work, or at the stop.
void poll_queue() {
  for (int idle = 0; idle < kIdlePolls && !is_stopping(); ++idle) {
    std::this_thread::sleep_for(kPollInterval);
    if (has_pending_memory() && !is_stopping()) {
      drain_with_gil();
      idle = 0;
    }
  }
}

/// False at the stop. Work queued after the check of the queue wakes the worker, by the order of both
/// atomics.
bool sleep_until_work() {
  State polling = State::kPolling;
  if (!state.compare_exchange_strong(polling, State::kSleeping)) {
    return polling == State::kStarting;
  }
  State sleeping = State::kSleeping;
  if (has_pending_memory() && state.compare_exchange_strong(sleeping, State::kPolling)) {
    return true;
  }
  while (sem_wait(&wake_semaphore) != 0) {
  }
  return !is_stopping();
}

void* worker_main(void* /*argument*/) {
  is_worker = true;
  do {
    poll_queue();
  } while (sleep_until_work());
  state.store(State::kStopped);
  return nullptr;
}

/// The worker blocks all signals: signals of the process go to the program's threads.
bool start_with_signals_blocked() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &program_signal_mask);
  pthread_t worker{};
  const bool started =
      pthread_create(&worker, nullptr, worker_main, nullptr) == 0 && pthread_detach(worker) == 0;
  pthread_sigmask(SIG_SETMASK, &program_signal_mask, nullptr);
  return started;
}

void start_worker() {
  State none = State::kNone;
  if (!state.compare_exchange_strong(none, State::kStarting)) {
    return;
  }
  sem_init(&wake_semaphore, 0, 0);
  state.store(start_with_signals_blocked() ? State::kPolling : State::kNone);
}

}  // namespace

void wake_worker() noexcept {
  State seen = state.load();
  if (seen == State::kNone) {
    start_worker();
  } else if (seen == State::kSleeping && state.compare_exchange_strong(seen, State::kPolling)) {
    sem_post(&wake_semaphore);
  }
}

void stop_worker() noexcept {
  State seen = state.load();
  while (seen != State::kStopping && seen != State::kStopped) {
    const State next = seen == State::kNone ? State::kStopped : State::kStopping;
    if (seen == State::kStarting) {
      std::this_thread::yield();
      seen = state.load();
    } else if (state.compare_exchange_weak(seen, next)) {
      if (seen == State::kSleeping) {
        sem_post(&wake_semaphore);
      }
      seen = next;
    }
  }
  while (!is_worker && state.load() != State::kStopped) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void reset_worker_after_fork() noexcept {
  const State seen = state.load();
  state.store(seen == State::kStopping || seen == State::kStopped ? State::kStopped : State::kNone);
}

}  // namespace simple_torch::bridge
