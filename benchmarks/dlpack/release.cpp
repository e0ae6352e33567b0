// Measures how long a native thread waits when it releases tensors over NumPy's memory while Python computes.
//
// Prints the median and the 99th percentile in nanoseconds, the clock's own time included.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "simple_torch/c_api.h"

namespace {

constexpr int64_t kTensors = 20'000;

void check(int32_t status) {
  if (status != SPT_OK) {
    std::fprintf(stderr, "%s\n", spt_last_error_message());
    std::exit(1);
  }
}

std::vector<int64_t> tensors_over_arrays() {
  std::vector<int64_t> tensors(kTensors);
  const SplArray* none = spl_array_new();
  for (int64_t& tensor : tensors) {
    int64_t array = 0;
    check(spt_py_eval("__import__('numpy').zeros(4)", "", none, nullptr, 0, &array));
    check(spt_py_from_dlpack(array, -2, -1, &tensor));
    check(spt_release(array));
  }
  return tensors;
}

std::vector<int64_t> nanoseconds_of_each(const std::vector<int64_t>& tensors) {
  std::vector<int64_t> taken;
  taken.reserve(tensors.size());
  for (const int64_t tensor : tensors) {
    const auto start = std::chrono::steady_clock::now();
    check(spt_release(tensor));
    taken.push_back((std::chrono::steady_clock::now() - start).count());
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

}  // namespace

int main() {
  const std::vector<int64_t> tensors = tensors_over_arrays();
  check(spt_py_exec("import time", "", spl_array_new(), nullptr, 0));
  std::thread python([] {
    check(spt_py_exec("end = time.monotonic() + 1\nwhile time.monotonic() < end: pass", "", spl_array_new(),
                      nullptr, 0));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const std::vector<int64_t> taken = nanoseconds_of_each(tensors);
  python.join();
  std::printf("%lld %lld\n", static_cast<long long>(taken[kTensors / 2]),
              static_cast<long long>(taken[kTensors * 99 / 100]));
}
