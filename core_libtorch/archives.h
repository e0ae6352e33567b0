// LibTorch's archives, the files of torch::save.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace simple_torch::core {

/// Writes a list of this one tensor. The file appears whole or not at all. Throws Error(kIo).
void save_tensor(const at::Tensor& tensor, const std::string& path);

/// The first tensor of such a list. Throws Error(kIo) when there is no such file, it is no archive, or its
/// list is empty.
at::Tensor load_tensor(const std::string& path);

}  // namespace simple_torch::core
