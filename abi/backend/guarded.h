// Exceptions end here: every body of the C ABI runs inside `guarded`.
#pragma once

#include <cstdint>
#include <string>

#include "abi/front_backend.h"
#include "abi/handles/allocation_trace.h"
#include "core_libtorch/error.h"

namespace simple_torch::abi {

/// What the front gave to this backend; set once, before any other function of the backend runs.
const FrontServices& services();

/// Puts the exception that is being handled into the thread's error record; returns its kind's number.
int32_t record_current_exception() noexcept;

/// Runs `body`; 0, or the kind of what it threw. No exception leaves.
template <class Body>
int32_t guarded(Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
  if (allocation_trace::traced.load(std::memory_order_relaxed)) [[unlikely]] {
    allocation_trace::record_function(function);
  }
  try {
    body();
    return 0;
  } catch (...) {
    return record_current_exception();
  }
}

/// Refuses a NULL pointer argument. Call it before any handle is made, or that handle would leak.
template <class T>
void require(T* pointer, const char* name) {
  if (pointer == nullptr) {
    throw Error(ErrorKind::kInvalidArgument, std::string(name) + " is NULL");
  }
}

}  // namespace simple_torch::abi
