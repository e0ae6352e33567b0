// Round trips through Python leave nothing behind. SIMPLE_LONG_TESTS=1 makes 10^6 of each.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "python_test.h"

namespace {

constexpr int64_t kMostGrowth = 1 << 20;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsCounted = false;  // a sanitizer keeps what was freed
#else
constexpr bool kIsCounted = true;
#endif

int64_t resident_bytes() {
  std::ifstream pages("/proc/self/statm");
  int64_t total = 0, resident = 0;
  pages >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

int round_trips() {
  const char* is_long = std::getenv("SIMPLE_LONG_TESTS");
  return is_long != nullptr && std::string(is_long) == "1" ? 1'000'000 : 50'000;
}

}  // namespace

class Leaks : public PythonTest {
 protected:
  /// Some trips first, so that what is kept once for all is there.
  template <class Trip>
  static void expect_flat(Trip&& trip) {
    for (int i = 0; i < 10'000; ++i) {
      trip();
    }
    const int64_t before = resident_bytes();
    for (int i = 0; i < round_trips(); ++i) {
      trip();
    }
    const int64_t growth = resident_bytes() - before;
    std::cout << round_trips() << " round trips, growth " << growth << " bytes\n";
    EXPECT_TRUE(!kIsCounted || growth <= kMostGrowth) << growth;
  }

  static Held tensor_of(const Held& object) {
    return made([&](int64_t* out) { return spt_py_from_dlpack(object.get(), -1, out); });
  }
};

TEST_F(Leaks, AreNoneOfNumpysArrays) {
  const Held make = eval("lambda zeros=__import__('numpy').zeros: zeros(16)");
  expect_flat([&] { const Held ours = tensor_of(call(make)); });
}

TEST_F(Leaks, AreNoneOfTorchsTensors) {
  const Held make = eval("lambda zeros=__import__('torch').zeros: zeros(16)");
  expect_flat([&] { const Held ours = tensor_of(call(make)); });
}

TEST_F(Leaks, AreNoneOfCapsulesThatGoThereAndBack) {
  const Held there = eval("lambda capsule, take=__import__('torch').from_dlpack: take(capsule)");
  expect_flat([&] {
    const Held ours = tensor({1, 2, 3}, {3});
    Held lent = made([&](int64_t* out) { return spt_dlpack_export(ours.get(), false, out); });
    const Held back = tensor_of(call(there, Args().dlpack(lent.get())));
    lent.give();  // the call used the handle up
  });
}
