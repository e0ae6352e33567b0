// Every body of the C ABI runs inside guarded(), which no exception leaves.
#pragma once

#include <cstdint>
#include <string>

#include "abi/forced_unwind.h"
#include "abi/front_backend.h"
#include "abi/handles/allocation_trace.h"
#include "core_libtorch/error.h"

namespace simple_torch::abi {

/// The services of the front; set once, before any other function of the backend runs.
const FrontServices& services();

/// Stores the current exception in the thread's error record and returns its kind.
int32_t record_current_exception() noexcept;

/// Runs `body`. Returns 0, or records the exception and returns its kind. A thread that ends by pthread_exit
/// in a callback unwinds through this function, which is therefore not noexcept.
template <class Body>
int32_t guarded(Body&& body, const char* function = __builtin_FUNCTION()) {
  if (allocation_trace::traced.load(std::memory_order_relaxed)) [[unlikely]] {
    allocation_trace::record_function(function);
  }
  try {
    body();
    return 0;
  } catch (...) {
    if (is_forced_unwind()) {
      throw;
    }
    return record_current_exception();
  }
}

/// Throws Error(kInvalidArgument) if a pointer argument is NULL. Call it before a handle is created, or the
/// handle leaks.
template <class T>
void require(T* pointer, const char* name) {
  if (pointer == nullptr) {
    throw Error(ErrorKind::kInvalidArgument, std::string(name) + " is NULL");
  }
}

/// guarded() for a function with one result: stores `compute()` in *out.
template <class Out, class Compute>
int32_t guarded_result(Out* out, Compute&& compute, const char* function = __builtin_FUNCTION()) {
  return guarded(
      [&] {
        require(out, "out");
        *out = compute();
      },
      function);
}

}  // namespace simple_torch::abi
