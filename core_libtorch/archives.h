// Reads and writes LibTorch archives, the files of torch::save.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace simple_torch::core {

/// Writes a list with one tensor. Replaces the file atomically. Throws Error(kIo).
void save_tensor(const at::Tensor& tensor, const std::string& path);

/// The first tensor of such a list. Throws Error(kIo) if the file does not exist, is not an archive or has an
/// empty list.
at::Tensor load_tensor(const std::string& path);

}  // namespace simple_torch::core
