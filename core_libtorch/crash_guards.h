// Rejects inputs that would crash the process inside LibTorch. A test found each of them.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <array>
#include <cstdint>
#include <vector>

namespace simple_torch::core {

/// The eigenvalues of square matrices. LAPACK reads out of bounds if an element is not finite (torch 2.11
/// to 2.15, in Python too). Such an input raises the error of torch.linalg.eig.
at::Tensor eigenvalues(const at::Tensor& matrices);

/// start, start + step … below end, int64. Throws if end - start overflows int64: the difference wraps around
/// to INT64_MIN, which LibTorch divides by -1 (torch 2.11 to 2.15, in Python too).
at::Tensor integers(int64_t start, int64_t end, int64_t step);

/// An operator, and the check that throws c10::Error for arguments that would crash it.
struct CrashGuard {
  const char* op;
  void (*check)(const std::vector<c10::IValue>& arguments);
};

void check_eigvals(const std::vector<c10::IValue>& arguments);
void check_arange(const std::vector<c10::IValue>& arguments);

inline constexpr std::array kCrashGuards{
    CrashGuard{"aten::linalg_eigvals", check_eigvals},
    CrashGuard{"aten::_linalg_eigvals", check_eigvals},
    CrashGuard{"aten::arange", check_arange},
};

}  // namespace simple_torch::core
