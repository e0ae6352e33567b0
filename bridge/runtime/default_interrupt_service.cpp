#include "bridge/runtime/default_interrupt_service.h"

#include <atomic>
#include <cerrno>
#include <csignal>

#include "abi/interrupt_transitions.h"
#include "bridge/runtime/interrupts.h"
#include "bridge/runtime/python_process.h"
#include "bridge/runtime/signal_module.h"

namespace simple_torch::bridge {
namespace {

namespace table = simple_torch::interrupts;

const SplInterruptClient* client = nullptr;  // set before the handler is installed
struct sigaction previous;
struct sigaction of_program;  // when Python started
bool is_program_remembered = false;

/// Calls the handler that was installed before ours.
void call_previous(int signal, siginfo_t* info, void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL) {
    sigaction(signal, &previous, nullptr);
    raise(signal);  // takes effect when this handler returns
  } else if (previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  }
}

/// There is no host: Simple is the program that the previous handler knows, or the embedded host.
void stop_program(int signal, siginfo_t* info, void* context) {
  if (is_program_attached()) {
    interrupt_program();
  } else {
    call_previous(signal, info, context);
  }
}

uint32_t next_actions(SplInterruptClientState& next) {
  SplInterruptClientState current{};
  client->read(&current);
  table::State state;
  table::Context context;
  table::add_client(current, 0, state, context);
  context.python_owns_process = is_program_attached();
  context.python_waits = is_program_running();
  const table::Transition transition = table::on_signal(state, context);
  next.workers_requested = transition.next.python_workers == table::Request::kPending ? 1 : 0;
  return transition.actions;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  SplInterruptClientState next{};
  const uint32_t actions = next_actions(next);
  client->perform(actions, next);
  if ((actions & table::kPassToPython) != 0) {
    count_main_interrupt();
    call_previous(signal, info, context);
    request_signal_check();
  }
  if ((actions & table::kStopSimple) != 0) {
    stop_program(signal, info, context);
  }
  if ((actions & table::kEndNow) != 0) {
    std::signal(signal, SIG_DFL);
    raise(signal);
  }
  errno = saved_errno;
}

/// Without SA_RESTART: blocking calls must end.
void install() {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

int32_t attach(const SplInterruptClient* python) {
  previous = of_program;
  if (!is_program_remembered) {
    sigaction(SIGINT, nullptr, &previous);
  }
  if ((previous.sa_flags & SA_SIGINFO) == 0 && previous.sa_handler == SIG_IGN) {
    return 1;
  }
  client = python;
  install();
  return 0;
}

constexpr SplInterruptService kService{attach, install, nullptr};

}  // namespace

const SplInterruptService& default_interrupt_service() noexcept { return kService; }

void remember_program_handler() noexcept {
  is_program_remembered = sigaction(SIGINT, nullptr, &of_program) == 0;
}

void install_before_python_handler(const SplInterruptClient& python) noexcept {
  static std::atomic<void (*)(int)> python_handler{nullptr};
  struct sigaction current {};
  sigaction(SIGINT, nullptr, &current);
  const bool is_plain =
      (current.sa_flags & SA_SIGINFO) == 0 && current.sa_handler != SIG_DFL && current.sa_handler != SIG_IGN;
  if (!is_plain || (python_handler != nullptr && python_handler != current.sa_handler)) {
    return;
  }
  python_handler = current.sa_handler;
  previous = current;
  client = &python;
  install();
}

}  // namespace simple_torch::bridge
