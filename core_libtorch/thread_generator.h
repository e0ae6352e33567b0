// A thread may have a default generator of its own, as each worker process of Python's DataLoader has.
#pragma once

#include <ATen/core/Generator.h>

#include <optional>

namespace simple_torch::core {

/// From now on operators by name that this thread calls draw from it where no generator is given and the
/// tensors are the CPU's; none: from the process's. While a thread has one, its operations use one thread.
/// Throws Error(kInvalidArgument) for a generator of another device.
void use_generator(std::optional<at::Generator> generator);

/// That of this thread; undefined where it has none.
const at::Generator& thread_generator() noexcept;

}  // namespace simple_torch::core
