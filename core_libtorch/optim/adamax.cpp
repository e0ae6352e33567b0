// Adamax.
#include <ATen/ops/_foreach_abs.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_maximum.h>

#include <cmath>

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

class Adamax final : public Algorithm {
 public:
  Adamax()
      : Algorithm("Adamax", {{"lr", 2e-3},
                             {"betas", list_of({0.9, 0.999})},
                             {"eps", 1e-8},
                             {"weight_decay", 0},
                             {"foreach", {}},
                             {"maximize", false},
                             {"differentiable", false},
                             {"capturable", false}}) {}

  void check(const NamedValues& options) const override { require_of_adams(options); }

  void start(NamedValues& state, const at::Tensor& param, const NamedValues& options) const override {
    state.set("step", counter(param, options));
    state.set("exp_avg", zeros_for(param));
    state.set("exp_inf", zeros_for(param));
  }

  void step(Batch& batch) const override {
    const NamedValues& options = batch.options;
    const std::vector<double> betas = options.numbers("betas", 2);
    const Tensors grads = as_real(batch.decayed_grads());
    const std::vector<double> counts = batch.count_steps();
    const Tensors exp_avgs = as_real(batch.state_tensors("exp_avg"));
    const Tensors exp_infs = as_real(batch.state_tensors("exp_inf"));
    at::_foreach_lerp_(exp_avgs, grads, 1 - betas[0]);
    scale_(exp_infs, betas[1]);
    const Tensors sizes = at::_foreach_abs(grads);
    at::_foreach_add_(sizes, options.number("eps"));
    at::_foreach_maximum_(exp_infs, sizes);
    Scalars rates;
    for (const double count : counts) {
      rates.emplace_back(-Rate(options).over(1 - std::pow(betas[0], count)).value());
    }
    at::_foreach_addcdiv_(as_real(batch.params), exp_avgs, exp_infs, rates);
  }
};

}  // namespace

const Algorithm& adamax() {
  static const auto* const only = new Adamax;
  return *only;
}

}  // namespace simple_torch::core::optim
