// The weights in a file of ONNX. Format: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, ModelProto.
#pragma once

#include <string>
#include <vector>

#include "core_libtorch/onnx/tensor_proto.h"

namespace simple_torch::core::onnx {

/// Copies of the initializers of the model's graph, in the file's order. Throws Error(kIo), which names the
/// file, if it cannot be read or is no valid model, Error(kNotImplemented) for types that LibTorch lacks.
std::vector<NamedTensor> read_initializers(const std::string& path);

}  // namespace simple_torch::core::onnx
