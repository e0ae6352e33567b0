// The stack of Simple that the calling native thread uses.
#pragma once

namespace spl {

class Thread;

/// The Thread on which this native thread runs Simple; null until it calls Simple. It differs from the
/// thread's first one while a coroutine runs; see coroutine_stacks.h.
inline constinit thread_local Thread* active_thread = nullptr;

}  // namespace spl
