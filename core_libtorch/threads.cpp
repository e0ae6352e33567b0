#include "core_libtorch/threads.h"

#include <ATen/Parallel.h>
#include <pthread.h>

#include <atomic>
#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

std::atomic<bool> is_forked{false};

void in_forked_child() {
  is_forked = true;
  at::set_num_threads(1);
}

}  // namespace

void set_num_threads(int64_t count) {
  if (count < 1 || count > INT32_MAX) {
    throw Error(ErrorKind::kInvalidArgument,
                "set_num_threads expects a positive integer, got " + std::to_string(count));
  }
  if (count > 1 && is_forked) {
    throw Error(ErrorKind::kUnavailable,
                "set_num_threads: a forked process supports 1 thread, got " + std::to_string(count) +
                    " (OpenMP's threads do not survive a fork); start the process by spawn or forkserver");
  }
  at::set_num_threads(static_cast<int>(count));
}

bool is_in_forked_process() noexcept { return is_forked; }

void use_one_thread_after_forks() { pthread_atfork(nullptr, nullptr, in_forked_child); }

}  // namespace simple_torch::core
