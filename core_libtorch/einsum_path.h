// The order in which einsum multiplies its operands.
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>
#include <vector>

namespace simple_torch::core {

/// Pairs of positions, as the `path` of at::einsum: the order of opt_einsum's strategy "auto", which
/// torch.einsum uses if that package is installed. Empty for fewer than three operands, and for an equation
/// that at::einsum will reject.
///
/// The order is opt_einsum's for up to 8 operands. With more of them it depends there on the order of
/// Python's sets, and from 15 on it is greedy; this is its strategy "branch-1".
std::vector<int64_t> einsum_path(std::string_view equation, at::TensorList operands);

}  // namespace simple_torch::core
