#include "core_libtorch/crash_guards.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_eigvals.h>

namespace simple_torch::core {
namespace {

void require_finite(const at::Tensor& matrices) {
  TORCH_CHECK(matrices.is_meta() || at::isfinite(matrices).all().item<bool>(),
              "linalg.eigvals: input tensor should not contain infs or NaNs.");
}

void require_distance(int64_t start, int64_t end) {
  int64_t distance = 0;
  TORCH_CHECK_VALUE(!__builtin_sub_overflow(end, start, &distance) && distance != INT64_MIN,
                    "arange: end - start overflows int64, got start ", start, " and end ", end);
}

}  // namespace

at::Tensor eigenvalues(const at::Tensor& matrices) {
  require_finite(matrices);
  return at::linalg_eigvals(matrices);
}

at::Tensor integers(int64_t start, int64_t end, int64_t step) {
  require_distance(start, end);
  return at::arange(start, end, step, at::kLong);
}

void check_eigvals(const std::vector<c10::IValue>& arguments) {
  if (!arguments.empty() && arguments.front().isTensor() && arguments.front().toTensor().defined()) {
    require_finite(arguments.front().toTensor());
  }
}

// arange(end, …) and arange(start, end, …).
void check_arange(const std::vector<c10::IValue>& arguments) {
  if (arguments.size() > 1 && arguments[0].isInt() && arguments[1].isInt()) {
    require_distance(arguments[0].toInt(), arguments[1].toInt());
  }
}

}  // namespace simple_torch::core
