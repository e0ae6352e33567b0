// The elements of a tensor as text.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace simple_torch::core {

inline constexpr int64_t kLineWidth = 80;

/// The elements of a strided tensor in brackets, as they stand behind `indent` columns of text; "[]" where
/// there are none. Of a tensor with more than 1000 elements, only both ends of long dimensions.
std::string values_text(const at::Tensor& tensor, int64_t indent);

}  // namespace simple_torch::core
