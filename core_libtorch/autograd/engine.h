// This project's additions to LibTorch's engine: locations of forward calls in backward errors, and hooks on
// saved tensors.
#pragma once

#include <c10/util/Exception.h>

#include <atomic>
#include <memory>
#include <utility>

#include "core_libtorch/autograd/anomaly_locations.h"
#include "core_libtorch/autograd/saved_tensors.h"

namespace simple_torch::core {

/// As torch.autograd.set_detect_anomaly, for the process. With a provider, errors of a backward name the
/// location of the forward call.
void set_anomaly_mode(bool enabled, bool check_nan, LocationProvider provider);
bool is_anomaly_mode();
bool is_anomaly_mode_checking_nan();

/// Starts the threads of Python's engine if torch was imported after a backward pass without Python. LibTorch
/// starts an engine's threads only once in a process.
void prepare_engine();

/// Python's engine was found and has its threads; prepare_engine() has no work left.
extern constinit std::atomic<bool> has_prepared_python;

/// Sets the function that runs on each thread at the start of a backward pass. The bridge sets it once.
void set_thread_preparation(void (*prepare)());
void prepare_pass();

[[noreturn]] void rethrow_from_backward(const c10::Error& error);

/// Runs a backward pass. Adds the location of the forward call and the names of functions to LibTorch's
/// errors.
template <class Pass>
auto in_backward_pass(Pass&& pass) -> decltype(pass()) {
  prepare_pass();
  try {
    return std::forward<Pass>(pass)();
  } catch (const c10::Error& error) {
    rethrow_from_backward(error);
  }
}

/// Installs hooks for the tensors that operations of this thread save. They nest; the innermost is active.
/// Throws Error(kInvalidArgument) if hooks are disabled.
void begin_saved_tensor_hooks(std::shared_ptr<SavedTensorHooks> hooks);
/// Throws Error(kInvalidArgument) if this thread has none.
void end_saved_tensor_hooks();

}  // namespace simple_torch::core
