// The number of threads of CPU operations, and its limit in forked processes.
#pragma once

#include <cstdint>

namespace simple_torch::core {

/// Throws Error(kInvalidArgument) unless count is positive, Error(kUnavailable) for more than one in a forked
/// process.
void set_num_threads(int64_t count);

/// Whether this process was forked from one in which use_one_thread_after_forks() was called.
bool is_in_forked_process() noexcept;

/// Makes operations use one thread in processes that are forked from this one. OpenMP's thread pool does not
/// survive a fork, and work for it would never finish. Call it once.
void use_one_thread_after_forks();

/// Makes the calling thread treat denormal numbers as zero. Returns whether the CPU supports it.
bool set_flush_denormal(bool mode);

}  // namespace simple_torch::core
