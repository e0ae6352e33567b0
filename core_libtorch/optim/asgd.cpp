// Averaged stochastic gradient descent.
#include <ATen/ops/full.h>

#include <algorithm>
#include <cmath>

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

/// As torch.as_tensor of a Python number, which rounds to the default dtype. A loaded state may be wider.
at::Tensor rounded(double number) { return at::full({}, number); }

class Asgd final : public Algorithm {
 public:
  Asgd()
      : Algorithm("ASGD", {{"lr", 1e-2},
                           {"lambd", 1e-4},
                           {"alpha", 0.75},
                           {"t0", 1e6},
                           {"weight_decay", 0},
                           {"foreach", {}},
                           {"maximize", false},
                           {"differentiable", false},
                           {"capturable", false}}) {}

  void check(const NamedValues& options) const override {
    require_rate(options);
    require_not_negative(options, {"lambd", "alpha", "weight_decay"});
  }

  bool is_counter(std::string_view state_name) const override {
    return state_name == "step" || state_name == "eta" || state_name == "mu";
  }

  void start(NamedValues& state, const at::Tensor& param, const NamedValues& options) const override {
    state.set("step", counter(param, options).to(param.device()));
    state.set("eta", counter(param, options, options.number("lr")).to(param.device()));
    state.set("mu", counter(param, options, 1).to(param.device()));
    state.set("ax", zeros_for(param));
  }

  void step(Batch& batch) const override {
    const NamedValues& options = batch.options;
    const double lambd = options.number("lambd");
    const Rate lr(options);
    const Tensors grads = as_real(batch.signed_grads());
    const Tensors params = as_real(batch.params);
    const Tensors averages = as_real(batch.state_tensors("ax"));
    const std::vector<double> counts = batch.count_steps();
    const double weight_decay = options.number("weight_decay");
    for (size_t i = 0; i < params.size(); ++i) {
      const at::Tensor& eta = batch.states[i]->tensor("eta");
      const at::Tensor& mu = batch.states[i]->tensor("mu");
      const at::Tensor grad = weight_decay != 0 ? grads[i].add(params[i], weight_decay) : grads[i];
      const double rate = eta.item<double>();
      scale_(params[i], 1 - lambd * rate);
      params[i].add_(grad, -rate);
      if (mu.item<double>() != 1) {
        averages[i].add_(params[i].sub(averages[i]).mul_(mu));
      } else {
        averages[i].copy_(params[i]);
      }
      eta.copy_(rounded(lr.value() / std::pow(1 + lambd * lr.value() * counts[i], options.number("alpha"))));
      mu.copy_(rounded(1 / std::max(1.0, counts[i] - options.number("t0"))));
    }
  }
};

}  // namespace

const Algorithm& asgd() {
  static const auto* const only = new Asgd;
  return *only;
}

}  // namespace simple_torch::core::optim
