// Values of a model: conversion between LibTorch's tensors and those of ONNX Runtime, without copies.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core_libtorch/onnxruntime/types.h"

namespace simple_torch::core::onnxruntime {

enum class ValueKind { kNone, kTensor, kStrings, kSequence, kMap };

/// An input or output. A map has two items: its keys, and a tensor of their values.
struct Value {
  ValueKind kind = ValueKind::kNone;
  at::Tensor tensor;
  std::vector<int64_t> sizes;  // of a tensor of strings
  std::vector<std::string> strings;
  std::vector<Value> items;
};

/// The inputs of one run. They share the memory of the tensors, which this object keeps.
class Inputs {
 public:
  /// Throws Error: DtypeMismatch, ShapeMismatch, DeviceMismatch, InvalidArgument if the value does not fit,
  /// NotImplemented for types without a form here.
  void add(const std::string& name, const Type& type, const Value& value);

  const std::vector<const char*>& names() const { return names_; }
  const std::vector<const OrtValue*>& values() const { return pointers_; }
  bool has_memory(const void* data) const;

 private:
  ValuePtr make(const std::string& name, const Type& type, const Value& value);
  ValuePtr make_tensor(const std::string& name, const Type& type, const Value& value);

  std::vector<const char*> names_;
  std::vector<const OrtValue*> pointers_;
  std::vector<ValuePtr> owned_;
  std::vector<at::Tensor> tensors_;
};

/// A value of the library over the memory of `tensor`, for an output. Throws Error: InvalidArgument unless
/// the tensor is contiguous, DtypeMismatch, DeviceMismatch.
ValuePtr output_in(const std::string& name, const Type& type, const at::Tensor& tensor);

/// A tensor shares the memory of `value`, unless that is memory of an input. Throws Error(kNotImplemented)
/// for sparse and opaque values, and for types that LibTorch lacks.
Value from_ort(ValuePtr value, const Inputs& inputs);

}  // namespace simple_torch::core::onnxruntime
