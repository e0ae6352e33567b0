// A default generator per thread, like that of each worker process of Python's DataLoader.
#pragma once

#include <ATen/core/Generator.h>

#include <optional>

namespace simple_torch::core {

/// Sets this thread's default generator, or removes it. Operators by name use it for CPU tensors if the call
/// names no generator. While a thread has one, its operations use one thread. Throws Error(kInvalidArgument)
/// for a generator of another device.
void use_generator(std::optional<at::Generator> generator);

/// This thread's generator; undefined if it has none.
const at::Generator& thread_generator() noexcept;

/// The default generator of a device; on the CPU this thread's own one, if it has one.
at::Generator default_generator(c10::Device device);

}  // namespace simple_torch::core
