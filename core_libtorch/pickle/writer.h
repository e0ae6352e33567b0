// Values as a pickle, as torch.save writes them.
#pragma once

#include <c10/core/Storage.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// What the pickle's text refers to by number: storages, each once.
struct Pickled {
  std::string bytes;
  std::vector<c10::Storage> storages;
};

/// Pickle protocol 2. Throws Error(kInvalidArgument) for tensors without plain memory (nested, quantized,
/// meta).
Pickled pickled(const Value& value);

}  // namespace simple_torch::core::pickle
