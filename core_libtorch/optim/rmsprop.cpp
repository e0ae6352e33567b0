// RMSprop.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_sqrt.h>

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

class RmsProp final : public Algorithm {
 public:
  RmsProp()
      : Algorithm("RMSprop", {{"lr", 1e-2},
                              {"momentum", 0},
                              {"alpha", 0.99},
                              {"eps", 1e-8},
                              {"centered", false},
                              {"weight_decay", 0},
                              {"capturable", false},
                              {"foreach", {}},
                              {"maximize", false},
                              {"differentiable", false}}) {}

  void check(const NamedValues& options) const override {
    require_rate(options);
    require_not_negative(options, {"eps", "momentum", "weight_decay", "alpha"});
  }

  void start(NamedValues& state, const at::Tensor& param, const NamedValues& options) const override {
    state.set("step", counter(param, options));
    state.set("square_avg", zeros_for(param));
    if (options.number("momentum") > 0) {
      state.set("momentum_buffer", zeros_for(param));
    }
    if (options.flag("centered")) {
      state.set("grad_avg", zeros_for(param));
    }
  }

  void step(Batch& batch) const override {
    const NamedValues& options = batch.options;
    const double alpha = options.number("alpha");
    const Tensors grads = as_real(batch.decayed_grads());
    batch.count_steps();
    const Tensors squares = as_real(batch.state_tensors("square_avg"));
    scale_(squares, alpha);
    at::_foreach_addcmul_(squares, grads, grads, 1 - alpha);
    const Tensors divisors = roots(batch, squares, grads);
    at::_foreach_add_(divisors, options.number("eps"));
    const Tensors params = as_real(batch.params);
    const double momentum = options.number("momentum");
    if (momentum > 0) {
      const Tensors buffers = as_real(batch.state_tensors("momentum_buffer"));
      scale_(buffers, momentum);
      at::_foreach_addcdiv_(buffers, grads, divisors);
      at::_foreach_add_(params, buffers, -options.number("lr"));
    } else {
      at::_foreach_addcdiv_(params, grads, divisors, -options.number("lr"));
    }
  }

 private:
  static Tensors roots(const Batch& batch, const Tensors& squares, const Tensors& grads) {
    if (!batch.options.flag("centered")) {
      return at::_foreach_sqrt(squares);
    }
    const Tensors means = as_real(batch.state_tensors("grad_avg"));
    at::_foreach_lerp_(means, grads, 1 - batch.options.number("alpha"));
    Tensors variances = at::_foreach_addcmul(squares, means, means, -1);
    at::_foreach_sqrt_(variances);
    return variances;
  }
};

}  // namespace

const Algorithm& rmsprop() {
  static const auto* const only = new RmsProp;
  return *only;
}

}  // namespace simple_torch::core::optim
