// Reads and writes tensor[subscripts] by PyTorch's own rules.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <variant>

namespace simple_torch::core {

struct NewDimension {};  // nil
struct Ellipsis {};      // ...
struct Slice {           // start:stop:step; an omitted part has no value
  std::optional<int64_t> start, stop, step;
};
using Subscript = std::variant<int64_t, bool, NewDimension, Ellipsis, Slice, at::Tensor>;

/// A view, or a copy if a subscript is a tensor.
at::Tensor get_item(const at::Tensor& tensor, c10::ArrayRef<Subscript> subscripts);

/// Writes a tensor, which is broadcast, or a number.
void set_item(const at::Tensor& tensor, c10::ArrayRef<Subscript> subscripts, const at::Tensor& value);
void set_item(const at::Tensor& tensor, c10::ArrayRef<Subscript> subscripts, const at::Scalar& value);

}  // namespace simple_torch::core
