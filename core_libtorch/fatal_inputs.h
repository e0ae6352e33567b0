// Inputs that would end the process inside LibTorch, refused before.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <array>
#include <vector>

namespace simple_torch::core {

/// The eigenvalues of square matrices. LAPACK reads outside of its memory where an element is not finite
/// (torch 2.11 to 2.15, in Python too): that is refused in the words in which torch.linalg.eig does.
at::Tensor eigenvalues(const at::Tensor& matrices);

/// The operators that have such inputs.
inline constexpr std::array kNamesWithFatalInputs{"aten::linalg_eigvals", "aten::_linalg_eigvals"};

/// Throws c10::Error when these arguments of one of them are such inputs.
void refuse_fatal_inputs(const std::vector<c10::IValue>& arguments);

}  // namespace simple_torch::core
