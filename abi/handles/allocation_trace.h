// Where live handles were made, for those who look for leaks. Nothing is noted until somebody asks for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "simple_torch/c_api.h"

namespace simple_torch::abi {

struct Allocation {
  std::string function;  // spt_add
  std::string place;     // what the program's SptPlace said; empty where it knew nothing
};

namespace allocation_trace {

extern constinit std::atomic<bool> traced;

/// From now on each new handle is noted; `place` may be null.
void start(SptPlace place);
void stop();

/// The function of the C ABI that this thread runs, without its spt_.
void record_function(const char* name) noexcept;
void record(int64_t handle) noexcept;
std::optional<Allocation> of(int64_t handle);

}  // namespace allocation_trace
}  // namespace simple_torch::abi
