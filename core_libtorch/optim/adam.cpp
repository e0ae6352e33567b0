// Adam and AdamW.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_maximum.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>

#include <cmath>

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

/// One class for both: AdamW is Adam with `decoupled_weight_decay`.
class Adam final : public Algorithm {
 public:
  explicit Adam(bool is_decoupled)
      : Algorithm(is_decoupled ? "AdamW" : "Adam",
                  {{"lr", 1e-3},
                   {"betas", list_of({0.9, 0.999})},
                   {"eps", 1e-8},
                   {"weight_decay", is_decoupled ? c10::IValue(1e-2) : c10::IValue(0)},
                   {"amsgrad", false},
                   {"maximize", false},
                   {"foreach", {}},
                   {"capturable", false},
                   {"differentiable", false},
                   {"fused", {}},
                   {"decoupled_weight_decay", is_decoupled}}) {}

  void check(const NamedValues& options) const override {
    check_tensors(options);
    require_of_adams(options);
    require_one_kernel(options);
  }

  void check_grad(const at::Tensor& param, const NamedValues& options) const override {
    if (param.grad().is_sparse()) {
      refuse(name() + " does not support sparse gradients, please consider SparseAdam instead");
    }
    require_fusable(param, options);
  }

  void start(NamedValues& state, const at::Tensor& param, const NamedValues& options) const override {
    state.set("step", counter(param, options));
    state.set("exp_avg", zeros_for(param));
    state.set("exp_avg_sq", zeros_for(param));
    if (options.flag("amsgrad")) {
      state.set("max_exp_avg_sq", zeros_for(param));
    }
  }

  void step(Batch& batch) const override {
    if (batch.options.flag("fused")) {
      step_fused(batch);
    } else {
      step_each(batch);
    }
  }

 private:
  static void check_tensors(const NamedValues& options) {
    const bool is_listed = options.flag("foreach") && !options.flag("capturable");
    if (options.at("lr").isTensor() && is_listed) {
      refuse("lr as a Tensor is not supported for capturable=False and foreach=True");
    }
    const c10::IValue& betas = options.at("betas");
    if (!betas.isList() || betas.toListRef().size() != 2) {
      refuse("betas takes 2 numbers, not " + in_words(betas));
    }
    const bool is_first = betas.toListRef()[0].isTensor();
    if (is_first != betas.toListRef()[1].isTensor()) {
      refuse("betas must be either both floats or both Tensors");
    }
    if (is_first && is_listed) {
      refuse("betas[0] as a Tensor is not supported for capturable=False and foreach=True");
    }
  }

  static void step_fused(Batch& batch) {
    const NamedValues& options = batch.options;
    const std::vector<double> betas = options.numbers("betas", 2);
    const bool amsgrad = options.flag("amsgrad");
    const Tensors averages = batch.state_tensors("exp_avg");
    const Tensors squares = batch.state_tensors("exp_avg_sq");
    const Tensors greatest = amsgrad ? batch.state_tensors("max_exp_avg_sq") : Tensors();
    const Tensors steps = batch.state_tensors("step");
    batch.require_shapes(averages, "exp_avg");
    batch.require_shapes(squares, "exp_avg_sq");
    batch.require_shapes(greatest, "max_exp_avg_sq");
    at::_foreach_add_(steps, 1);
    auto kernel = [&](auto&& run) {
      run(batch.params, batch.grads, averages, squares, greatest, steps, options.number("lr"), betas[0],
          betas[1], options.number("weight_decay"), options.number("eps"), amsgrad, options.flag("maximize"));
    };
    if (options.flag("decoupled_weight_decay")) {
      kernel([](const auto&... given) { at::_fused_adamw_(given...); });
    } else {
      kernel([](const auto&... given) { at::_fused_adam_(given...); });
    }
  }

  static void step_each(Batch& batch) {
    const NamedValues& options = batch.options;
    const std::vector<double> betas = options.numbers("betas", 2);
    const Tensors grads = as_real(batch.decayed_grads());
    const std::vector<double> counts = batch.count_steps();
    const Tensors averages = as_real(batch.state_tensors("exp_avg"));
    const Tensors squares = as_real(batch.state_tensors("exp_avg_sq"));
    move_moments(averages, squares, grads, betas);
    Scalars sizes;
    Scalars corrections;
    const Rate lr(options);
    for (const double count : counts) {
      sizes.emplace_back(-lr.over(1 - std::pow(betas[0], count)).value());
      corrections.emplace_back(std::pow(1 - std::pow(betas[1], count), 0.5));
    }
    const Tensors divisors =
        at::_foreach_sqrt(options.flag("amsgrad") ? greatest_of(batch, squares) : squares);
    at::_foreach_div_(divisors, corrections);
    at::_foreach_add_(divisors, options.number("eps"));
    at::_foreach_addcdiv_(as_real(batch.params), averages, divisors, sizes);
  }

  static Tensors greatest_of(const Batch& batch, const Tensors& squares) {
    Tensors greatest = as_real(batch.state_tensors("max_exp_avg_sq"));
    at::_foreach_maximum_(greatest, squares);
    return greatest;
  }
};

}  // namespace

const Algorithm& adam() {
  static const auto* const only = new Adam(false);
  return *only;
}

const Algorithm& adamw() {
  static const auto* const only = new Adam(true);
  return *only;
}

}  // namespace simple_torch::core::optim
