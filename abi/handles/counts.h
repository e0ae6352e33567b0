// How many handles of each kind are live. Each thread counts its own: a shared number would cost each handle
// two locked instructions.
#pragma once

#include <cstdint>

#include "abi/generated/handle_kinds.h"

namespace simple_torch::abi {

namespace handle_counts {

void increment(HandleKind kind) noexcept;
void decrement(HandleKind kind) noexcept;

/// Of all threads, also of those that ended.
int64_t live(HandleKind kind) noexcept;

/// The most that were live at once. Handles that other threads make or end at the same time count in groups
/// of up to 16 for each thread.
int64_t peak(HandleKind kind) noexcept;

}  // namespace handle_counts
}  // namespace simple_torch::abi
