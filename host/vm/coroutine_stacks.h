// The stacks of coroutines that call Simple, such as Python's greenlets.
//
// A coroutine may be switched away from while native code that it called from Simple runs. Another coroutine
// of the same native thread may then call Simple, or return to it. On a common stack their frames would be
// popped in the wrong order, so each coroutine has a Thread of its own while it is inside Simple. `Unlocked`
// activates the caller's Thread again when native code returns.
#pragma once

#include <cstdint>

#include "host/vm/thread.h"

namespace spl {

/// Around a callback from native code: activates the Thread of its coroutine. `coroutine` is 0 outside
/// coroutines; the callback then runs on `base`, the first Thread of the native thread.
class CoroutineScope {
 public:
  CoroutineScope(Thread& base, uint64_t coroutine);
  ~CoroutineScope();
  CoroutineScope(const CoroutineScope&) = delete;
  CoroutineScope& operator=(const CoroutineScope&) = delete;

  Thread& thread() const { return *thread_; }

 private:
  Thread* const base_;
  const uint64_t coroutine_;
  Thread* thread_;
};

}  // namespace spl
