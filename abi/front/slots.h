// How a call passes through the front: a slot for each function, which first opens the backend.
#pragma once

#include <cstdint>

#include "abi/generated/backend_table.h"

namespace simple_torch::abi {

/// Jumped through by every function. Starts with slots that open the backend; opening replaces them all.
extern BackendTable table;

/// What stands in `table` where there is no backend: each function reports why and fails.
extern const BackendTable kAbsentBackend;

/// Fills `table` with the backend's functions, or with kAbsentBackend's. Done once per process.
void open_backend();

/// Records that there is no backend, and why; the status to return.
int32_t report_unavailable() noexcept;

/// Forgets this thread's error.
void clear_error() noexcept;

/// Reads a slot while another thread may be filling it. As cheap as a plain read on x86 and ARM.
template <class Function>
inline Function* slot(Function* const& place) noexcept {
  return __atomic_load_n(&place, __ATOMIC_ACQUIRE);
}

/// The two functions that a slot may hold before and without a backend.
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
