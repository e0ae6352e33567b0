// Reading and writing the part of a tensor that subscripts name, by PyTorch's own rules.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace simple_torch::core {

struct NewDimension {};  // nil
struct AllBetween {};    // ...
struct Slice {           // start:stop:step; what is left out has no value
  std::optional<int64_t> start, stop, step;
};
using Subscript = std::variant<int64_t, bool, NewDimension, AllBetween, Slice, at::Tensor>;

/// A view, or a copy where a tensor is among the subscripts.
at::Tensor get_item(const at::Tensor& tensor, const std::vector<Subscript>& subscripts);

/// Writes a tensor, which broadcasts, or a number.
void set_item(const at::Tensor& tensor, const std::vector<Subscript>& subscripts, const at::Tensor& value);
void set_item(const at::Tensor& tensor, const std::vector<Subscript>& subscripts, const at::Scalar& value);

}  // namespace simple_torch::core
