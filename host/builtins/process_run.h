// Child processes, for std.process.
#pragma once

#include "host/values/value.h"

namespace spl {

class Thread;

/// rt_run_process(words, variables): [exit code, standard output, standard error]. Variables are NAME=VALUE
/// and extend the environment of this process. The exit code after a signal is 128 + its number, as in a
/// shell.
Value process_run(Thread&, Value* args, int);

/// rt_process_execute(settings): [exit code, standard output, standard error, whether the time was over].
/// Settings are the words, the whole environment as NAME=VALUE or nil for that of this process, the working
/// folder or nil, the input or nil for the input of this process, the seconds or nil, and the numbers of the
/// targets of output and errors: 0 this process's, 1 the result, 2 nowhere, 3 (errors) where the output goes.
/// The exit code after a signal is its negative number.
Value process_execute(Thread&, Value* args, int);

}  // namespace spl
