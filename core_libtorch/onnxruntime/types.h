// Types of a model's inputs and outputs.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core_libtorch/onnxruntime/ort_library.h"

namespace simple_torch::core::onnxruntime {

struct Type {
  OrtKind kind = OrtKind::kUnknown;
  OrtElement element = OrtElement::kUndefined;  // of a tensor; of the keys of a map
  std::vector<int64_t> sizes;                   // of a tensor; -1 where the model leaves the size open
  std::vector<std::string> symbols;             // one for each size: its name if it is open and has one
  std::vector<Type> items;                      // what a sequence, an optional value or a map contains

  /// ONNX Runtime's text, such as "tensor(float)" or "seq(map(int64,tensor(float)))".
  std::string text() const;
  /// Such as "[batch, 3, ?]".
  std::string shape_text() const;
};

/// The name in "tensor(float)".
std::string element_name(OrtElement element);

/// nullopt for a type that LibTorch lacks.
std::optional<c10::ScalarType> dtype_of(OrtElement element);

/// nullopt for a dtype that ONNX lacks.
std::optional<OrtElement> element_of(c10::ScalarType dtype);

Type read_type(const OrtTypeInfo& info);

/// Fills element, sizes and symbols.
void read_tensor_type(const OrtTensorInfo& info, Type& type);

}  // namespace simple_torch::core::onnxruntime
