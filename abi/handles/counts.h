// The numbers of live handles of each kind. Each thread has counters of its own, because shared counters
// would cost two locked instructions per handle.
#pragma once

#include <cstdint>

#include "abi/generated/handle_kinds.h"

namespace simple_torch::abi {

namespace handle_counts {

void increment(HandleKind kind) noexcept;
void decrement(HandleKind kind) noexcept;

/// The number of live handles that all threads created, including threads that have ended.
int64_t live(HandleKind kind) noexcept;

/// The maximum of live(). Changes by concurrent threads are included in groups of up to 16 per thread.
int64_t peak(HandleKind kind) noexcept;

}  // namespace handle_counts
}  // namespace simple_torch::abi
