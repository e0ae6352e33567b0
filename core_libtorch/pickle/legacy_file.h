// Reads files of torch.save before PyTorch 1.6, which are no archives; new versions write them on request.
#pragma once

#include <optional>
#include <string>

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// The file's value. Throws as load().
ValuePtr load_legacy(const std::string& path, const std::optional<std::string>& map_location);

}  // namespace simple_torch::core::pickle
