// NAdam.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_sqrt.h>

#include <cmath>

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

class NAdam final : public Algorithm {
 public:
  NAdam()
      : Algorithm("NAdam", {{"lr", 2e-3},
                            {"betas", list_of({0.9, 0.999})},
                            {"eps", 1e-8},
                            {"weight_decay", 0},
                            {"momentum_decay", 4e-3},
                            {"decoupled_weight_decay", false},
                            {"maximize", false},
                            {"foreach", {}},
                            {"capturable", false},
                            {"differentiable", false}}) {}

  void check(const NamedValues& options) const override {
    require_of_adams(options);
    require_not_negative(options, {"momentum_decay"});
  }

  bool is_counter(std::string_view state_name) const override {
    return state_name == "step" || state_name == "mu_product";
  }

  void start(NamedValues& state, const at::Tensor& param, const NamedValues& options) const override {
    state.set("step", counter(param, options));
    state.set("mu_product", counter(param, options, 1));
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
    const Factors factors = factors_of(batch, counts, betas);
    const Tensors divisors = at::_foreach_div(exp_avg_sqs, factors.corrections);
    at::_foreach_sqrt_(divisors);
    at::_foreach_add_(divisors, options.number("eps"));
    at::_foreach_addcdiv_(params, grads, divisors, factors.of_grads);
    at::_foreach_addcdiv_(params, exp_avgs, divisors, factors.of_exp_avgs);
  }

 private:
  struct Factors {
    Scalars corrections;
    Scalars of_grads;
    Scalars of_exp_avgs;
  };

  static Factors factors_of(const Batch& batch, const std::vector<double>& counts,
                            const std::vector<double>& betas) {
    const double decay = batch.options.number("momentum_decay");
    const Rate lr(batch.options);
    auto momentum = [&](double count) { return betas[0] * (1.0 - 0.5 * std::pow(0.96, count * decay)); };
    Factors factors;
    for (size_t i = 0; i < counts.size(); ++i) {
      const double now = momentum(counts[i]);
      const double next = momentum(counts[i] + 1);
      const double product = batch.states[i]->tensor("mu_product").mul_(now).item<double>();
      factors.corrections.emplace_back(1 - std::pow(betas[1], counts[i]));
      factors.of_grads.emplace_back(-lr.times(1.0 - now).over(1.0 - product).value());
      factors.of_exp_avgs.emplace_back(-lr.times(next).over(1.0 - product * next).value());
    }
    return factors;
  }
};

}  // namespace

const Algorithm& nadam() {
  static const auto* const only = new NAdam;
  return *only;
}

}  // namespace simple_torch::core::optim
