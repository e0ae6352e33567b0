// Whole files as tensors of bytes.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace simple_torch::core {

/// A uint8 tensor [n]. With `unpacked` the content of a gzip file is meant, and any other file is taken as it
/// is. Throws Error(kIo), which names the path, where the file cannot be read, or is a truncated or broken
/// gzip file.
at::Tensor read_bytes(const std::string& path, bool unpacked);

/// The file appears whole or not at all. Throws Error(kInvalidArgument) unless `bytes` is a uint8 tensor [n]
/// on the CPU, Error(kIo).
void write_bytes(const std::string& path, const at::Tensor& bytes);

}  // namespace simple_torch::core
