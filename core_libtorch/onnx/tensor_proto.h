// Tensors in ONNX's files. Format: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, TensorProto.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core_libtorch/onnx/mapped_file.h"
#include "core_libtorch/onnx/protobuf.h"

namespace simple_torch::core::onnx {

/// The files next to a model that have the data of its tensors. Each is opened once.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}

  /// The bytes at `offset`; all that follow for a negative size. Throws Error(kIo) if the location leaves the
  /// folder, or the file is missing or too short.
  std::string_view bytes(const std::string& location, uint64_t offset, int64_t size);

 private:
  std::string folder_;
  std::map<std::string, std::unique_ptr<MappedFile>> files_;
};

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// A copy of the tensor. Throws Error(kIo) for malformed data, Error(kNotImplemented) for types that LibTorch
/// lacks; both name the tensor.
NamedTensor read_tensor(std::string_view message, ExternalFiles& files);

/// The same for a sparse tensor of ONNX; the result is dense.
NamedTensor read_sparse_tensor(std::string_view message, ExternalFiles& files);

}  // namespace simple_torch::core::onnx
