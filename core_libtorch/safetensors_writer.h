// Writes safetensors files as the format's own library does.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

namespace simple_torch::core {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// The file is written atomically. Throws Error(kInvalidArgument) for a tensor that is sparse or not
/// contiguous, that shares memory with another, or whose dtype the format lacks; Error(kIo) if the file
/// cannot be written.
void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata);

}  // namespace simple_torch::core
