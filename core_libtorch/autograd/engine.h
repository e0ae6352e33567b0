// What this project adds to LibTorch's engine: where in the program a failing operation was called, and hooks
// on the tensors that operations save.
#pragma once

#include <c10/util/Exception.h>

#include <atomic>
#include <memory>
#include <utility>

#include "core_libtorch/autograd/anomaly_locations.h"
#include "core_libtorch/autograd/saved_tensors.h"

namespace simple_torch::core {

/// As torch.autograd.set_detect_anomaly; it is the process's. With a place, the error of a backward says
/// where the operation was called that failed.
void set_anomaly_mode(bool enabled, bool check_nan, Place place);
bool is_anomaly_mode();
bool is_anomaly_mode_checking_nan();

/// Gives Python's engine the threads that it lacks where torch was imported after a first backward pass
/// without Python: LibTorch starts an engine's threads once in a process.
void prepare_engine();

/// Python's engine has been seen, and has its threads: nothing is left to prepare.
extern constinit std::atomic<bool> has_prepared_python;

/// `prepare` runs on each thread that begins a backward pass, from now on. Set once, by who knows Python.
void prepare_passes_by(void (*prepare)());
void prepare_pass();

[[noreturn]] void rethrow_from_backward(const c10::Error& error);

/// Runs a backward pass; LibTorch's errors get the place of the forward call and the names of functions.
template <class Pass>
auto in_backward_pass(Pass&& pass) -> decltype(pass()) {
  prepare_pass();
  try {
    return std::forward<Pass>(pass)();
  } catch (const c10::Error& error) {
    rethrow_from_backward(error);
  }
}

/// For what operations of this thread save from here on. They nest; the innermost counts. Throws
/// Error(kInvalidArgument) where they are disabled.
void begin_saved_tensor_hooks(std::shared_ptr<SavedTensorHooks> hooks);
/// Throws Error(kInvalidArgument) where none were begun on this thread.
void end_saved_tensor_hooks();

}  // namespace simple_torch::core
