// Reads and writes whole files as tensors of bytes.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace simple_torch::core {

/// The file's bytes as a uint8 tensor [n]. With `decompress` a gzip file is decompressed; other files are
/// read as they are. Throws Error(kIo), which names the path, if the file cannot be read or is a truncated or
/// corrupt gzip file.
at::Tensor read_bytes(const std::string& path, bool decompress);

/// Replaces the file atomically. Throws Error(kInvalidArgument) unless `bytes` is a uint8 tensor [n]
/// on the CPU, Error(kIo).
void write_bytes(const std::string& path, const at::Tensor& bytes);

}  // namespace simple_torch::core
