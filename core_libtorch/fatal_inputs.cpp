#include "core_libtorch/fatal_inputs.h"

#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_eigvals.h>

namespace simple_torch::core {
namespace {

void require_finite(const at::Tensor& matrices) {
  TORCH_CHECK(matrices.is_meta() || at::isfinite(matrices).all().item<bool>(),
              "linalg.eigvals: input tensor should not contain infs or NaNs.");
}

}  // namespace

at::Tensor eigenvalues(const at::Tensor& matrices) {
  require_finite(matrices);
  return at::linalg_eigvals(matrices);
}

void refuse_fatal_inputs(const std::vector<c10::IValue>& arguments) {
  if (!arguments.empty() && arguments.front().isTensor() && arguments.front().toTensor().defined()) {
    require_finite(arguments.front().toTensor());
  }
}

}  // namespace simple_torch::core
