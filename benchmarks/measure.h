// Two ways of the same work, timed side by side.
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

/// Rounds alternate between the ways; each way's time is the least of its rounds. Prints the name and the
/// nanoseconds of each.
template <class Theirs, class Ours>
void compare(const char* name, int rounds, int64_t calls, Theirs&& theirs, Ours&& ours) {
  double least_theirs = std::numeric_limits<double>::max(), least_ours = least_theirs;
  for (int round = 0; round < rounds; ++round) {
    least_theirs = std::min(least_theirs, nanoseconds(calls, theirs));
    least_ours = std::min(least_ours, nanoseconds(calls, ours));
  }
  std::printf("%s %.1f %.1f\n", name, least_theirs, least_ours);
}

}  // namespace simple_torch::benchmarks
