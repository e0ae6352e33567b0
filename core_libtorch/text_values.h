// The elements of a tensor as a string.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace simple_torch::core {

inline constexpr int64_t kLineWidth = 80;

/// The elements of a strided tensor in brackets, for output after `indent` columns; "[]" if there are none.
/// For more than 1000 elements only both ends of long dimensions.
std::string values_text(const at::Tensor& tensor, int64_t indent);

}  // namespace simple_torch::core
