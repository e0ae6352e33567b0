// Rprop.
#include <ATen/ops/full_like.h>
#include <ATen/ops/sign.h>

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

class Rprop final : public Algorithm {
 public:
  Rprop()
      : Algorithm("Rprop", {{"lr", 1e-2},
                            {"etas", list_of({0.5, 1.2})},
                            {"step_sizes", list_of({1e-6, 50})},
                            {"foreach", {}},
                            {"maximize", false},
                            {"differentiable", false},
                            {"capturable", false}}) {}

  void check(const NamedValues& options) const override {
    require_rate(options);
    const std::vector<double> etas = options.numbers("etas", 2);
    if (!(0 < etas[0] && etas[0] < 1 && 1 < etas[1])) {
      const auto pair = options.at("etas").toListRef();
      throw_invalid_argument("Invalid eta values: " + repr(pair[0]) + ", " + repr(pair[1]));
    }
    options.numbers("step_sizes", 2);
  }

  void start(NamedValues& state, const at::Tensor& param, const NamedValues& options) const override {
    const double lr = options.number("lr");
    const at::Scalar size = param.is_complex() ? at::Scalar(c10::complex<double>(lr, lr)) : at::Scalar(lr);
    state.set("step", counter(param, options));
    state.set("prev", zeros_for(param));
    state.set("step_size", at::full_like(param.grad(), size));
  }

  void step(Batch& batch) const override {
    const std::vector<double> etas = batch.options.numbers("etas", 2);
    const std::vector<double> limits = batch.options.numbers("step_sizes", 2);
    batch.count_steps();
    const Tensors params = as_real(batch.params);
    const Tensors grads = as_real(batch.signed_grads());
    const Tensors previous = as_real(batch.state_tensors("prev"));
    const Tensors sizes = as_real(batch.state_tensors("step_size"));
    for (size_t i = 0; i < params.size(); ++i) {
      const at::Tensor sign = grads[i].mul(previous[i]).sign();
      sign.masked_fill_(sign.gt(0), etas[1]);
      sign.masked_fill_(sign.lt(0), etas[0]);
      sign.masked_fill_(sign.eq(0), 1);
      sizes[i].mul_(sign).clamp_(limits[0], limits[1]);
      const at::Tensor grad = grads[i].masked_fill(sign.eq(etas[0]), 0);
      params[i].addcmul_(grad.sign(), sizes[i], -1);
      previous[i].copy_(grad);
    }
  }
};

}  // namespace

const Algorithm& rprop() {
  static const auto* const only = new Rprop;
  return *only;
}

}  // namespace simple_torch::core::optim
