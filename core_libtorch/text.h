// A tensor's string form, as Python prints it.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace simple_torch::core {

/// Python's repr(tensor) with PyTorch's default print options: 4 digits, 3 edge items above
/// 1000 elements, 80 columns; dtype, device and requires_grad or grad_fn where PyTorch shows them.
std::string text_of(const at::Tensor& tensor);

/// "torch.strided", "torch.sparse_coo", …
std::string layout_text(const at::Tensor& tensor);

}  // namespace simple_torch::core
