// Errors as values of the program: Failure, and the functions attempt() and panic().
#pragma once

#include "host/values/error.h"
#include "host/values/objects.h"

namespace spl {

class Thread;

/// Throws the error of panic(payload). A Failure is thrown again with its own message and location.
[[noreturn]] void panic_with(Thread& thread, Value payload);
/// Calls `callee` without arguments: Ok of its result, or Err of a Failure. Owned.
Value attempted(Thread& thread, Value callee);
/// The Failure for an error. Owned.
Value to_failure(const SimpleError& error);
/// The error behind a Failure; null for other values, and for a Failure whose cause was overwritten.
const SimpleError* error_behind(Value failure);

}  // namespace spl
