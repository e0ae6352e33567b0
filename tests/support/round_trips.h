// Checks that the memory of the process stays flat while an operation is repeated. SIMPLE_LONG_TESTS=1: 10^6
// times.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

namespace round_trips {

constexpr int64_t kMostGrowth = 1 << 20;
constexpr int kBefore = 5'000;  // warm-up, so that one-time allocations are not counted
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsCounted = false;  // a sanitizer keeps freed memory, and detects leaks itself
#else
constexpr bool kIsCounted = true;
#endif

inline int64_t resident_bytes() {
  std::ifstream pages("/proc/self/statm");
  int64_t total = 0, resident = 0;
  pages >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

inline int count() {
  const char* is_long = std::getenv("SIMPLE_LONG_TESTS");
  return is_long != nullptr && std::string(is_long) == "1" ? 1'000'000 : 50'000;
}

template <class Trip>
void expect_flat(Trip&& trip) {
  for (int i = 0; i < kBefore; ++i) {
    trip();
  }
  const int64_t before = resident_bytes();
  for (int i = 0; i < count(); ++i) {
    trip();
  }
  const int64_t growth = resident_bytes() - before;
  std::cout << count() << " round trips, growth " << growth << " bytes\n";
  EXPECT_TRUE(!kIsCounted || growth <= kMostGrowth) << growth;
}

}  // namespace round_trips
