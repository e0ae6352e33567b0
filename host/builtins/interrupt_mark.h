// The externs rt_interrupt_mark_*: a loop polls for an interrupt instead of being stopped by it.
#pragma once

#include "host/values/value.h"

namespace spl {

class Thread;

/// watch_interrupt_mark(), unwatch_interrupt_mark() and is_interrupt_mark_set() of
/// host/interrupts/interrupts.h.
Value interrupt_mark_begin(Thread&, Value* args, int count);
Value interrupt_mark_end(Thread&, Value* args, int count);
Value interrupt_mark_is_set(Thread&, Value* args, int count);

}  // namespace spl
