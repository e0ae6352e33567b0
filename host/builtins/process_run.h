// Running another program and keeping what it prints, for the library's std.process.
#pragma once

#include "host/values/value.h"

namespace spl {

class Thread;

/// rt_process_run(words, variables): [exit code, standard output, standard error]. Variables are NAME=VALUE,
/// set beside those of this process. A program that a signal ended has code 128 + its number, as in a shell.
Value process_run(Thread&, Value* args, int);

}  // namespace spl
