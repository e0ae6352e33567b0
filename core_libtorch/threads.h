// How many threads one operation on the CPU uses, and what of them a forked process keeps.
#pragma once

#include <cstdint>

namespace simple_torch::core {

/// Throws Error(kInvalidArgument) unless count is positive, Error(kUnavailable) for more than one in a forked
/// process.
void set_num_threads(int64_t count);

/// Whether this process was forked from one in which use_one_thread_after_forks() was called.
bool is_in_forked_process() noexcept;

/// From now on operations use one thread in processes that are forked from this one: the pool of OpenMP's
/// threads does not come along, and who gave it work there would wait for ever. Call it once.
void use_one_thread_after_forks();

}  // namespace simple_torch::core
