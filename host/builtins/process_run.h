// Child processes, for std.process.
#pragma once

#include "host/values/value.h"

namespace spl {

class Thread;

/// rt_process_run(words, variables): [exit code, standard output, standard error]. Variables are NAME=VALUE
/// and extend the environment of this process. The exit code after a signal is 128 + its number, as in a
/// shell.
Value process_run(Thread&, Value* args, int);

}  // namespace spl
