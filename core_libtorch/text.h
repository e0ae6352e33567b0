// A tensor's string form, as Python prints it.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace simple_torch::core {

/// Python's repr(tensor) with the options of set_print_options(); dtype, device and requires_grad or grad_fn
/// where PyTorch shows them.
std::string text_of(const at::Tensor& tensor);

/// "torch.strided", "torch.sparse_coo", …
std::string layout_text(const at::Tensor& tensor);

}  // namespace simple_torch::core
