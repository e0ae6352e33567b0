#include "host/builtins/interrupt_mark.h"

#include <csignal>

#include "host/vm/thread.h"

namespace spl {
namespace {

volatile std::sig_atomic_t is_set = 0;

void set_mark(int) { is_set = 1; }

// The system takes our handler away as the signal comes: the next one ends the process, also in a loop that
// hangs.
void take_signal() {
  struct sigaction ours {};
  ours.sa_handler = set_mark;
  ours.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGINT, &ours, nullptr);
}

struct sigaction handler_now() {
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  return now;
}

bool is_plain(const struct sigaction& action, void (*handler)(int)) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == handler;
}

// Under the host lock.
int users = 0;
bool is_ours = false;  // whether the signal was taken
struct sigaction before {};

}  // namespace

Value interrupt_mark_begin(Thread&, Value*, int) {
  if (users++ == 0) {
    before = handler_now();
    is_ours = !is_plain(before, SIG_IGN);
    is_set = 0;
    if (is_ours) {
      take_signal();
    }
  }
  return Value();
}

Value interrupt_mark_end(Thread&, Value*, int) {
  if (--users == 0 && is_ours) {
    sigaction(SIGINT, &before, nullptr);
  }
  return Value();
}

Value interrupt_mark_is_set(Thread&, Value*, int) {
  if (users > 0 && is_ours && is_set == 0) {
    const struct sigaction now = handler_now();
    // The mark is looked at again: the signal may have come since, which takes the handler away, too.
    if (!is_plain(now, set_mark) && is_set == 0) {
      before = now;
      take_signal();
    }
  }
  return Value::boolean(users > 0 && is_set != 0);
}

}  // namespace spl
