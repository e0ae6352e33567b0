// Two threads change one number through the handle table without synchronization. The test passes if the
// thread sanitizer reports the race.
#include <atomic>
#include <cstdio>
#include <thread>

#include "abi/handles/handle_table.h"

namespace simple_torch::abi {
namespace {

struct Counter {
  int* value;
};

}  // namespace

template <>
struct HandleKindOf<Counter> {
  static constexpr HandleKind value = HandleKind::kTensor;
};

}  // namespace simple_torch::abi

int main() {
  using simple_torch::abi::Counter;
  using simple_torch::abi::handles;
  int number = 0;
  const int64_t handle = handles().insert(Counter{&number});
  std::atomic<int> borrowed{0};
  const auto count = [&] {
    const auto held = handles().get<Counter>(handle);
    ++borrowed;
    while (borrowed.load(std::memory_order_relaxed) <
           2) {  // both have borrowed it: the following accesses are unordered
    }
    for (int i = 0; i < 1000; ++i) {
      ++*held->value;
    }
  };
  std::thread first(count), second(count);
  first.join();
  second.join();
  handles().release(handle);
  std::printf("%d\n", number);
}
