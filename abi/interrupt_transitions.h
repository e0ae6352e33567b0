// The transition table of SIGINT, as a pure function. The host owns SIGINT and evaluates the table in its
// handler. In a process without the host, the bridge's own handler evaluates it.
#pragma once

#include <cstdint>

#include "simple_torch/spl_runtime.h"

namespace simple_torch::interrupts {

/// Trainer.fit polls a mark between its steps instead of being stopped.
enum class Mark : uint8_t { kOff, kWatched, kSet };

/// Whether a party was asked to stop and has not stopped yet.
enum class Request : uint8_t { kNone, kPending };

struct State {
  Mark mark = Mark::kOff;
  Request simple = Request::kNone;          // Simple code, at its next safepoint
  Request python_main = Request::kNone;     // Python's main thread, by its signal handling
  Request python_workers = Request::kNone;  // other threads inside Python, by asynchronous exceptions
  bool is_ending = false;                   // the watcher was asked to end the process

  bool operator==(const State&) const = default;
};

/// Where threads are when the signal arrives.
struct Context {
  bool python_owns_process = false;  // Python started the process and handles SIGINT outside Simple
  bool python_waits = false;         // there: Python's main thread waits for a Simple function
  bool main_in_python = false;
  bool workers_in_python = false;
  bool on_python_main = false;    // the handler runs on Python's main thread
  bool is_wake_up = false;        // the signal only ends a blocking call of Python's main thread
  bool simple_is_active = false;  // Simple threads outside Python work, or may do so
};

/// What the handler does; a set of bits.
enum Action : uint32_t {
  kForwardToPythonMain = SPL_INTERRUPT_FORWARD,  // only there does the signal end a blocking call
  kStopPythonMain = SPL_INTERRUPT_STOP_MAIN,
  kStopPythonWorkers = SPL_INTERRUPT_STOP_WORKERS,
  kEndInOrder = SPL_INTERRUPT_END,  // the watcher flushes the streams and ends the process
  kSetMark = 16,
  kStopSimple = 32,
  kPassToPython = 64,  // Python's own handler
  kEndNow = 128,       // the default action of SIGINT
};

struct Transition {
  State next;
  uint32_t actions;

  bool operator==(const Transition&) const = default;
};

namespace detail {

constexpr bool is_requested(Request request) { return request == Request::kPending; }

/// Row 10 of the table.
constexpr Transition stop_python(State state, const Context& context) {
  uint32_t actions = 0;
  if (context.main_in_python) {
    actions |= kStopPythonMain;
    state.python_main = Request::kPending;
  }
  if (context.workers_in_python) {
    actions |= kStopPythonWorkers;
    // When Simple is asked as well, its own request distinguishes a second signal.
    state.python_workers = context.simple_is_active ? Request::kNone : Request::kPending;
  }
  if (context.simple_is_active) {
    actions |= is_requested(state.simple) ? kEndNow : kStopSimple;
    state.simple = Request::kPending;
  }
  return {state, actions};
}

}  // namespace detail

/// The reaction to one SIGINT. The rows are tried in order:
///
///   | # | when                                                      | actions                            |
///   |---|-----------------------------------------------------------|------------------------------------|
///   | 0 | the bridge wakes Python's main thread                     | nothing                            |
///   | 1 | the mark is set                                           | end now                            |
///   | 2 | the mark is watched                                       | set the mark                       |
///   | 3 | Python's process, whose main thread waits for Simple      | stop Simple                        |
///   | 4 | Python's process                                          | pass to Python's handler           |
///   | 5 | Python's main thread is inside Python, handler elsewhere  | forward to that thread             |
///   | 6 | no thread is inside Python; Simple has no request         | stop Simple                        |
///   | 7 | no thread is inside Python; Simple has a request          | end now                            |
///   | 8 | the process is ending                                     | end now                            |
///   | 9 | a thread inside Python has a request                      | end in order                       |
///   |10 | otherwise                                                 | stop the threads inside Python; if |
///   |   |                                                           | Simple is active, stop it as well, |
///   |   |                                                           | or end now if it has a request     |
///
/// A request ends when its party stops: Simple's when a thread takes it at a safepoint, that of Python's main
/// thread (and the workers' with it) when the main thread leaves Python, the workers' when one of them
/// leaves. The mark is on while a loop watches it, and off afterwards. The owners of the state make these
/// changes.
constexpr Transition on_signal(State state, const Context& context) {
  const bool is_inside = context.main_in_python || context.workers_in_python;
  if (context.is_wake_up) {
    return {state, 0};
  }
  if (state.mark == Mark::kSet) {
    return {state, kEndNow};
  }
  if (state.mark == Mark::kWatched) {
    state.mark = Mark::kSet;
    return {state, kSetMark};
  }
  if (context.python_owns_process) {
    const bool is_for_simple = context.python_waits && !context.main_in_python;
    return {state, is_for_simple ? kStopSimple : kPassToPython};
  }
  if (context.main_in_python && !context.on_python_main) {
    return {state, kForwardToPythonMain};
  }
  if (!is_inside) {
    const bool is_second = detail::is_requested(state.simple);
    state.simple = Request::kPending;
    return {state, is_second ? kEndNow : kStopSimple};
  }
  if (state.is_ending) {
    return {state, kEndNow};
  }
  if (detail::is_requested(state.python_main) || detail::is_requested(state.python_workers)) {
    state.is_ending = true;
    return {state, kEndInOrder};
  }
  return detail::stop_python(state, context);
}

/// What a client reports of Python. `active_threads`: the active Simple threads, inside and outside Python.
inline void add_client(const SplInterruptClientState& client, int32_t active_threads, State& state,
                       Context& context) {
  const auto request = [](int32_t is_pending) {
    return is_pending != 0 ? Request::kPending : Request::kNone;
  };
  state.python_main = request(client.main_requested);
  state.python_workers = request(client.workers_requested);
  state.is_ending = client.is_ending != 0;
  context.main_in_python = client.main_inside != 0;
  context.workers_in_python = client.workers_inside != 0;
  context.on_python_main = client.on_main_thread != 0;
  context.is_wake_up = client.is_wake_up != 0;
  // While the first thread of the process is inside Python as its main thread, the interrupt is that
  // thread's.
  const bool is_first_inside = client.main_inside != 0 && client.main_is_first_thread != 0;
  context.simple_is_active = !is_first_inside && active_threads > client.workers_inside + client.main_inside;
}

}  // namespace simple_torch::interrupts
