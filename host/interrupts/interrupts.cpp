#include "host/interrupts/interrupts.h"

#include <atomic>
#include <cerrno>
#include <csignal>

#include "abi/interrupt_transitions.h"
#include "host/interrupts/scopes.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"
#include "host/vm/signal_check.h"

namespace spl {
namespace {

namespace table = simple_torch::interrupts;
using table::Mark;

// The state that the handler touches; lock-free. The request of Simple is a bit of the host lock.
std::atomic<Mark> mark{Mark::kOff};
std::atomic<const SplInterruptClient*> client{nullptr};

std::atomic<int> watchers{0};  // of the mark; changed under the host lock

// Guarded by the host lock.
bool is_ignored = false;    // SIGINT was ignored when the mark was first watched
bool has_replaced = false;  // `replaced` is to be installed again after the mark
struct sigaction replaced {};

void read_state(table::State& state, table::Context& context, const SplInterruptClient* python) {
  state.mark = mark.load();
  state.simple = is_interrupt_requested() ? table::Request::kPending : table::Request::kNone;
  context.simple_is_active = true;
  if (python != nullptr) {
    SplInterruptClientState client_state{};
    python->read(&client_state);
    table::add_client(client_state, ActiveThread::threads(), state, context);
  }
}

SplInterruptClientState client_state_of(const table::State& state) {
  SplInterruptClientState next{};
  next.main_requested = state.python_main == table::Request::kPending ? 1 : 0;
  next.workers_requested = state.python_workers == table::Request::kPending ? 1 : 0;
  next.is_ending = state.is_ending ? 1 : 0;
  return next;
}

void end_now(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);  // takes effect when the handler returns
}

void on_interrupt_signal(int signal, siginfo_t* /*info*/, void* /*context*/) {
  const int saved_errno = errno;
  const SplInterruptClient* const python = client.load();
  table::State state;
  table::Context context;
  read_state(state, context, python);
  const table::Transition transition = table::on_signal(state, context);
  if ((transition.actions & table::kSetMark) != 0) {
    mark.store(transition.next.mark);
  }
  constexpr uint32_t kOfClient =
      table::kForwardToPythonMain | table::kStopPythonMain | table::kStopPythonWorkers | table::kEndInOrder;
  if ((transition.actions & kOfClient) != 0) {
    python->perform(transition.actions & kOfClient, client_state_of(transition.next));
  }
  // A second signal may have been handled on another thread in between.
  const bool is_second = (transition.actions & table::kStopSimple) != 0 && !request_interrupt();
  if (is_second || (transition.actions & table::kEndNow) != 0) {
    end_now(signal);
  }
  errno = saved_errno;
}

struct sigaction installed_handler() {
  struct sigaction current {};
  sigaction(SIGINT, nullptr, &current);
  return current;
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_interrupt_signal;
}

bool ignores(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

/// With Python, blocking calls must end: no SA_RESTART. While the mark is watched, they must not.
void install() {
  const bool ends_calls = client.load() != nullptr && watchers == 0;
  struct sigaction action {};
  action.sa_sigaction = on_interrupt_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (ends_calls ? 0 : SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

/// Installs the handler for the mark over a foreign one, which is restored afterwards.
void install_for_mark(const struct sigaction& current) {
  if (!is_ours(current)) {
    replaced = current;
    has_replaced = true;
  }
  install();
}

int32_t attach(const SplInterruptClient* python) {
  if (ignores(installed_handler())) {
    return 1;
  }
  client.store(python);
  install();
  return 0;
}

constexpr SplInterruptService kService{attach, install, request_signal_check};

}  // namespace

void install_interrupt_handler() { install(); }

bool request_interrupt() { return request_safepoint(kInterruptReason); }

bool is_interrupt_requested() { return is_requested(kInterruptReason); }

bool take_interrupt() { return take_request(kInterruptReason); }

void watch_interrupt_mark() {
  if (watchers++ != 0) {
    return;
  }
  const struct sigaction current = installed_handler();
  is_ignored = ignores(current);
  if (!is_ignored) {
    mark.store(Mark::kWatched);
    install_for_mark(current);
  }
}

void unwatch_interrupt_mark() {
  if (--watchers != 0 || is_ignored) {
    return;
  }
  mark.store(Mark::kOff);
  if (has_replaced) {
    has_replaced = false;
    sigaction(SIGINT, &replaced, nullptr);
  } else {
    install();
  }
}

bool is_interrupt_mark_set() {
  if (watchers == 0) {
    return false;
  }
  if (mark.load() == Mark::kWatched) {
    const struct sigaction current = installed_handler();
    if (!is_ours(current)) {
      install_for_mark(current);
    }
  }
  return mark.load() == Mark::kSet;
}

const SplInterruptService* interrupt_service() { return &kService; }

}  // namespace spl
