// Adadelta.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/view_as_complex.h>

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

class Adadelta final : public Algorithm {
 public:
  Adadelta()
      : Algorithm("Adadelta", {{"lr", 1.0},
                               {"rho", 0.9},
                               {"eps", 1e-6},
                               {"weight_decay", 0},
                               {"maximize", false},
                               {"capturable", false},
                               {"foreach", {}},
                               {"differentiable", false}}) {}

  void check(const NamedValues& options) const override {
    require_rate(options);
    const double rho = options.number("rho");
    require_option(rho >= 0 && rho <= 1, "Invalid rho value", options.at("rho"));
    require_not_negative(options, {"eps", "weight_decay"});
  }

  void start(NamedValues& state, const at::Tensor& param, const NamedValues& options) const override {
    state.set("step", counter(param, options));
    state.set("square_avg", zeros_for(param));
    state.set("acc_delta", zeros_for(param));
  }

  void step(Batch& batch) const override {
    const NamedValues& options = batch.options;
    const double rho = options.number("rho");
    const double eps = options.number("eps");
    batch.count_steps();
    const Tensors grads = as_real(batch.decayed_grads());
    const Tensors squares = as_real(batch.state_tensors("square_avg"));
    scale_(squares, rho);
    at::_foreach_addcmul_(squares, grads, grads, 1 - rho);
    const Tensors divisors = root_of_sum(squares, eps);
    const Tensors sums = as_real(batch.state_tensors("acc_delta"));
    Tensors deltas = root_of_sum(sums, eps);
    at::_foreach_div_(deltas, divisors);
    at::_foreach_mul_(deltas, grads);
    scale_(sums, rho);
    at::_foreach_addcmul_(sums, deltas, deltas, 1 - rho);
    if (batch.is_complex()) {
      for (at::Tensor& delta : deltas) {
        delta = at::view_as_complex(delta);
      }
    }
    at::_foreach_add_(batch.params, deltas, -options.number("lr"));
  }

 private:
  static Tensors root_of_sum(const Tensors& tensors, double eps) {
    Tensors sums = at::_foreach_add(tensors, eps);
    at::_foreach_sqrt_(sums);
    return sums;
  }
};

}  // namespace

const Algorithm& adadelta() {
  static const auto* const only = new Adadelta;
  return *only;
}

}  // namespace simple_torch::core::optim
