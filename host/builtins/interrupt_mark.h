// Ctrl-C as a mark that a loop of the program looks for, where it would end the program at any place.
#pragma once

#include "host/values/value.h"

namespace spl {

class Thread;

/// From here to interrupt_mark_end a first SIGINT only sets the mark, and a second ends the process at once.
/// Beginnings and ends are counted, so that loops may nest or run side by side. Where SIGINT is ignored it
/// stays so.
Value interrupt_mark_begin(Thread&, Value* args, int count);
Value interrupt_mark_end(Thread&, Value* args, int count);

/// Whether SIGINT came since. Takes the signal back from who took it over meanwhile, as Python does when it
/// starts.
Value interrupt_mark_is_set(Thread&, Value* args, int count);

}  // namespace spl
