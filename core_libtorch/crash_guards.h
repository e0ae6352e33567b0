// Inputs that would end the process inside LibTorch, refused before. Each is one that a test of ours has met.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <array>
#include <cstdint>
#include <vector>

namespace simple_torch::core {

/// The eigenvalues of square matrices. LAPACK reads outside of its memory where an element is not finite
/// (torch 2.11 to 2.15, in Python too): that is refused in the words in which torch.linalg.eig does.
at::Tensor eigenvalues(const at::Tensor& matrices);

/// start, start + step … below end, int64. A distance that is no 64-bit integer is refused: it wraps round to
/// INT64_MIN, and LibTorch divides that by -1 (torch 2.11 to 2.15, in Python too).
at::Tensor integers(int64_t start, int64_t end, int64_t step);

/// An operator with such inputs, and what throws c10::Error when the arguments are ones.
struct FatalInputs {
  const char* op;
  void (*refuse)(const std::vector<c10::IValue>& arguments);
};

void refuse_fatal_eigvals(const std::vector<c10::IValue>& arguments);
void refuse_fatal_arange(const std::vector<c10::IValue>& arguments);

inline constexpr std::array kFatalInputs{
    FatalInputs{"aten::linalg_eigvals", refuse_fatal_eigvals},
    FatalInputs{"aten::_linalg_eigvals", refuse_fatal_eigvals},
    FatalInputs{"aten::arange", refuse_fatal_arange},
};

}  // namespace simple_torch::core
