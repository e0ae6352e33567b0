// Times two implementations of one operation in alternating rounds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace simple_torch::benchmarks {

template <class Body>
double nanoseconds(int64_t calls, Body&& body) {
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < calls; ++i) {
    body();
  }
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  return taken.count() / static_cast<double>(calls);
}

/// Times both implementations in alternating rounds. Prints the name and the minimum of each in
/// nanoseconds.
template <class Theirs, class Ours>
void compare(const char* name, int rounds, int64_t calls, Theirs&& theirs, Ours&& ours) {
  double minimum_theirs = std::numeric_limits<double>::max(), minimum_ours = minimum_theirs;
  for (int round = 0; round < rounds; ++round) {
    minimum_theirs = std::min(minimum_theirs, nanoseconds(calls, theirs));
    minimum_ours = std::min(minimum_ours, nanoseconds(calls, ours));
  }
  std::printf("%s %.1f %.1f\n", name, minimum_theirs, minimum_ours);
}

}  // namespace simple_torch::benchmarks
