// Failures as values, and as what they become again.
#pragma once

#include "host/values/error.h"
#include "host/values/objects.h"

namespace spl {

/// Throws what panic(payload) throws: a Failure keeps its message and its place.
[[noreturn]] void panic_with(Thread& thread, Value payload);
/// What attempt(callee) gives: Ok, or Err of the Failure. Owned.
Value attempted(Thread& thread, Value callee);
/// The Failure that attempt() gives in Err. Owned.
Value failure_of(const SimpleError& error);
/// The error that a Failure stands for; null for other values, and for a Failure whose cause was overwritten.
const SimpleError* error_behind(Value failure);
/// The innermost place outside the library, else the innermost; null when there is none.
const StackEntry* user_entry(const SimpleError& error);

}  // namespace spl
