#include "host/vm/signal_check.h"

#include <atomic>

#include "host/interrupts/scopes.h"
#include "host/values/objects.h"
#include "host/vm/lock.h"
#include "host/vm/thread.h"

namespace spl {
namespace {

std::atomic<bool> is_check_requested{false};
Value signal_check;  // guarded by the host lock

}  // namespace

void set_signal_check(Value function) { signal_check = retained(function); }

void request_signal_check() {
  is_check_requested.store(true);
  host_lock().mark_wanted();
}

bool is_signal_check_due() { return is_check_requested.load(std::memory_order_relaxed) && is_first_thread(); }

void run_due_signal_check() {
  if (is_signal_check_due() && is_check_requested.exchange(false) && !signal_check.is_nil()) {
    release(current_thread().call(signal_check, nullptr, 0));
  }
}

}  // namespace spl
