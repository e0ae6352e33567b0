// The labels of an einsum equation and their sizes.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace simple_torch::core {

/// A set of labels: bits 0 to 51 are letters, the others the dimensions of `...`, the last one first.
using Labels = uint64_t;

struct EinsumEquation {
  std::vector<Labels> inputs;
  Labels output = 0;
  std::array<double, 64> sizes{};

  double size_of(Labels labels) const;
};

/// Nothing for an equation that does not fit the operands, or with more than 12 dimensions of `...`.
std::optional<EinsumEquation> parse_einsum(std::string_view equation, at::TensorList operands);

}  // namespace simple_torch::core
