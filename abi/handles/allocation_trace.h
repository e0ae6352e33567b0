// The origin of live handles, to find leaks. Nothing is recorded until tracing starts.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "simple_torch/c_api.h"

namespace simple_torch::abi {

struct Allocation {
  std::string function;  // spt_add
  std::string location;  // the result of the program's SptLocation; empty if unknown
};

namespace allocation_trace {

extern constinit std::atomic<bool> traced;

/// Records each new handle from this call on; `location` may be NULL.
void start(SptLocation location);
void stop();

/// `name` is the function of the C ABI that this thread runs, without spt_.
void record_function(const char* name) noexcept;
void record(int64_t handle) noexcept;
std::optional<Allocation> of(int64_t handle);

}  // namespace allocation_trace
}  // namespace simple_torch::abi
