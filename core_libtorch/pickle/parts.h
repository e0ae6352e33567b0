// Typed access to the arguments in a pickle.
#pragma once

#include <string>
#include <vector>

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// Both throw Error(kIo), which names the expected `what`.
const Value& part_of(const Value& value, size_t index, Kind kind, const char* what);
std::vector<int64_t> integers_of(const Value& value, const char* what);

}  // namespace simple_torch::core::pickle
