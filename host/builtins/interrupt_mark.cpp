#include "host/builtins/interrupt_mark.h"

#include "host/interrupts/interrupts.h"

namespace spl {

Value interrupt_mark_begin(Thread&, Value*, int) {
  watch_interrupt_mark();
  return Value();
}

Value interrupt_mark_end(Thread&, Value*, int) {
  unwatch_interrupt_mark();
  return Value();
}

Value interrupt_mark_is_set(Thread&, Value*, int) { return Value::boolean(is_interrupt_mark_set()); }

}  // namespace spl
