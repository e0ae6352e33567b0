// Writes values as a pickle, in torch.save's format.
#pragma once

#include <c10/core/Storage.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// The storages that the pickle refers to by number, each once.
struct Pickled {
  std::string bytes;
  std::vector<c10::Storage> storages;
};

/// Writes pickle protocol 2. Throws Error(kInvalidArgument) for tensors without plain memory (nested,
/// quantized, meta).
Pickled pickled(const Value& value);

}  // namespace simple_torch::core::pickle
