#include "host/interrupts/scopes.h"

#include <unistd.h>

#include "host/installation.h"

namespace spl {
namespace {

std::atomic<int> interruptible_threads{0};
std::atomic<bool> first_is_interruptible{false};

}  // namespace

bool is_first_thread() {
  static thread_local const bool is_first = gettid() == getpid();
  return is_first;
}

InterruptsAllowed::InterruptsAllowed() {
  if (count_++ != 0) {
    return;
  }
  ++interruptible_threads;
  if (is_first_thread()) {
    first_is_interruptible = true;
  }
}

InterruptsAllowed::~InterruptsAllowed() {
  if (--count_ != 0) {
    return;
  }
  --interruptible_threads;
  if (is_first_thread()) {
    first_is_interruptible = false;
  }
}

bool may_be_interrupted() {
  if (InterruptsMasked::is_this_thread()) {
    return false;
  }
  if (is_embedded() || first_is_interruptible) {
    return is_first_thread();
  }
  return interruptible_threads == 0 || InterruptsAllowed::is_this_thread();
}

void reset_scopes_after_fork() {
  ActiveThread::reset_after_fork();
  interruptible_threads = InterruptsAllowed::is_this_thread() ? 1 : 0;
  first_is_interruptible = first_is_interruptible && is_first_thread();
}

}  // namespace spl
