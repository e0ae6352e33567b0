// The slots of the front: one for each function of the backend. The first call through any slot opens the
// backend.
#pragma once

#include <cstdint>

#include "abi/generated/backend_table.h"

namespace simple_torch::abi {

/// The slots. Each initial slot opens the backend, which replaces all slots.
extern BackendTable table;

/// The slots without a backend: each function records why there is none and fails.
extern const BackendTable kAbsentBackend;

/// Fills `table` with the backend's functions or with kAbsentBackend. Done once per process.
void open_backend();

/// Fills `table` with kAbsentBackend. For the time after LibTorch's static objects were destroyed, when
/// functions registered with atexit() before the backend was opened still run.
void close_backend();

/// Records why there is no backend, and returns the status.
int32_t report_unavailable() noexcept;

/// Stores the status of a call from Simple as this thread's error kind. After the call, because a call that
/// succeeds may have run a callback in which another one failed.
void store_status(int32_t status) noexcept;

/// Whether this thread's last call from Simple failed. spt_last_error_kind() is for the program.
bool has_failed() noexcept;

/// Whether an earlier call of Python was interrupted whose error the program has not asked for, because the
/// result does not show it. The next call of Python then fails in its place: no interrupt is lost.
bool repeats_interrupt() noexcept;

/// Reads a slot that another thread may be filling. As cheap as a plain read on x86 and ARM.
template <class Function>
inline Function* slot(Function* const& place) noexcept {
  return __atomic_load_n(&place, __ATOMIC_ACQUIRE);
}

/// The functions of a slot before the backend is open, and without a backend.
template <auto Member>
struct Slot;

template <class... Arguments, int32_t (*BackendTable::*Member)(Arguments...)>
struct Slot<Member> {
  static int32_t open_then_call(Arguments... arguments) {
    open_backend();
    return slot(table.*Member)(arguments...);
  }
  static int32_t unavailable(Arguments... /*arguments*/) { return report_unavailable(); }
};

}  // namespace simple_torch::abi
