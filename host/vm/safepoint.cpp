#include "host/vm/safepoint.h"

#include "host/installation.h"
#include "host/interrupts/interrupts.h"
#include "host/interrupts/scopes.h"
#include "host/values/error.h"
#include "host/vm/cycles.h"
#include "host/vm/lock.h"
#include "host/vm/signal_check.h"

namespace spl {

void safepoint(bool may_stop) {
  const bool would_end = !is_embedded() && !InterruptsAllowed::is_this_thread();
  if ((may_stop || would_end) && may_be_interrupted() && take_interrupt()) {
    throw ExitRequest{.code = kInterruptedCode, .by_interrupt = true};
  }
  if (may_stop && !InterruptsMasked::is_this_thread()) {
    run_due_signal_check();
  }
  if (take_request(kCollectionReason)) {
    collect_cycles();
  }
  host_lock().hand_over();
}

}  // namespace spl
