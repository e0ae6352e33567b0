// RAdam.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_reciprocal.h>
#include <ATen/ops/_foreach_sqrt.h>

#include <cmath>

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

class RAdam final : public Algorithm {
 public:
  RAdam()
      : Algorithm("RAdam", {{"lr", 1e-3},
                            {"betas", list_of({0.9, 0.999})},
                            {"eps", 1e-8},
                            {"weight_decay", 0},
                            {"maximize", false},
                            {"foreach", {}},
                            {"capturable", false},
                            {"decoupled_weight_decay", false},
                            {"differentiable", false}}) {}

  void check(const NamedValues& options) const override { require_of_adams(options); }

  void start(NamedValues& state, const at::Tensor& param, const NamedValues& options) const override {
    state.set("step", counter(param, options));
    state.set("exp_avg", zeros_for(param));
    state.set("exp_avg_sq", zeros_for(param));
  }

  void step(Batch& batch) const override {
    const NamedValues& options = batch.options;
    const std::vector<double> betas = options.numbers("betas", 2);
    const Tensors params = as_real(batch.params);
    const Tensors grads = batch.decayed_real_grads();
    const Tensors exp_avgs = as_real(batch.state_tensors("exp_avg"));
    const Tensors exp_avg_sqs = as_real(batch.state_tensors("exp_avg_sq"));
    const std::vector<double> counts = batch.count_steps();
    move_moments(exp_avgs, exp_avg_sqs, grads, betas);
    Scalars corrections;
    for (const double count : counts) {
      corrections.emplace_back(1 - std::pow(betas[0], count));
    }
    Tensors updates = at::_foreach_div(exp_avgs, corrections);
    scale_(updates, options.number("lr"));
    adapt(updates, exp_avg_sqs, counts, betas[1], options.number("eps"));
    at::_foreach_add_(params, updates, -1.0);
  }

 private:
  /// Scales the updates of parameters that have enough steps for a tractable variance.
  static void adapt(const Tensors& updates, const Tensors& exp_avg_sqs, const std::vector<double>& counts,
                    double beta2, double eps) {
    const double max_length = 2 / (1 - beta2) - 1;
    Tensors adapted;
    Tensors divided;
    Scalars roots;
    Scalars rectifiers;
    for (size_t i = 0; i < counts.size(); ++i) {
      const double power = std::pow(beta2, counts[i]);
      const double length = max_length - 2 * counts[i] * power / (1 - power);
      if (length > 5.0) {
        adapted.push_back(updates[i]);
        divided.push_back(exp_avg_sqs[i]);
        roots.emplace_back(std::pow(1 - power, 0.5));
        rectifiers.emplace_back(std::pow(
            (length - 4) * (length - 2) * max_length / ((max_length - 4) * (max_length - 2) * length), 0.5));
      }
    }
    if (adapted.empty()) {
      return;
    }
    const Tensors factors = at::_foreach_sqrt(divided);
    at::_foreach_add_(factors, eps);
    at::_foreach_reciprocal_(factors);
    scale_(factors, roots);
    at::_foreach_mul_(adapted, factors);
    scale_(adapted, rectifiers);
  }
};

}  // namespace

const Algorithm& radam() {
  static const auto* const only = new RAdam;
  return *only;
}

}  // namespace simple_torch::core::optim
