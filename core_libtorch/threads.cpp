#include "core_libtorch/threads.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

std::atomic<bool> is_forked{false};

void in_forked_child() {
  is_forked = true;
  at::set_num_threads(1);
}

/// OpenMP ends the process if it cannot create a thread.
int64_t max_threads() {
  constexpr int64_t kUsual = 1024;
  constexpr int64_t kForEachCore = 4;
  return std::max<int64_t>(kUsual, kForEachCore * std::thread::hardware_concurrency());
}

}  // namespace

void set_num_threads(int64_t count) {
  if (count < 1) {
    throw Error(ErrorKind::kInvalidArgument,
                "set_num_threads expects a positive integer, got " + std::to_string(count));
  }
  if (const int64_t limit = max_threads(); count > limit) {
    throw Error(ErrorKind::kInvalidArgument, "set_num_threads: at most " + std::to_string(limit) +
                                                 " threads are supported, got " + std::to_string(count));
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

bool set_flush_denormal(bool mode) { return at::globalContext().setFlushDenormal(mode); }

}  // namespace simple_torch::core
