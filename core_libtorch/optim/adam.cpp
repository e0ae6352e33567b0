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

/// Both algorithms: AdamW is Adam with `decoupled_weight_decay`.
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
      throw_invalid_argument(name() +
                             " does not support sparse gradients, please consider SparseAdam instead");
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
      throw_invalid_argument("lr as a Tensor is not supported for capturable=False and foreach=True");
    }
    const c10::IValue& betas = options.at("betas");
    if (!betas.isList() || betas.toListRef().size() != 2) {
      throw_invalid_argument("betas must be 2 numbers, got " + repr(betas));
    }
    const bool is_first = betas.toListRef()[0].isTensor();
    if (is_first != betas.toListRef()[1].isTensor()) {
      throw_invalid_argument("betas must be either both floats or both Tensors");
    }
    if (is_first && is_listed) {
      throw_invalid_argument("betas[0] as a Tensor is not supported for capturable=False and foreach=True");
    }
  }

  static void step_fused(Batch& batch) {
    const NamedValues& options = batch.options;
    const std::vector<double> betas = options.numbers("betas", 2);
    const bool amsgrad = options.flag("amsgrad");
    const Tensors exp_avgs = batch.state_tensors("exp_avg");
    const Tensors exp_avg_sqs = batch.state_tensors("exp_avg_sq");
    const Tensors max_exp_avg_sqs = amsgrad ? batch.state_tensors("max_exp_avg_sq") : Tensors();
    const Tensors steps = batch.state_tensors("step");
    batch.require_shapes(exp_avgs, "exp_avg");
    batch.require_shapes(exp_avg_sqs, "exp_avg_sq");
    batch.require_shapes(max_exp_avg_sqs, "max_exp_avg_sq");
    at::_foreach_add_(steps, 1);
    auto kernel = [&](auto&& run) {
      run(batch.params, batch.grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps, options.number("lr"),
          betas[0], betas[1], options.number("weight_decay"), options.number("eps"), amsgrad,
          options.flag("maximize"));
    };
    if (options.flag("decoupled_weight_decay")) {
      kernel([](const auto&... args) { at::_fused_adamw_(args...); });
    } else {
      kernel([](const auto&... args) { at::_fused_adam_(args...); });
    }
  }

  static void step_each(Batch& batch) {
    const NamedValues& options = batch.options;
    const std::vector<double> betas = options.numbers("betas", 2);
    const Tensors grads = as_real(batch.decayed_grads());
    const std::vector<double> counts = batch.count_steps();
    const Tensors exp_avgs = as_real(batch.state_tensors("exp_avg"));
    const Tensors exp_avg_sqs = as_real(batch.state_tensors("exp_avg_sq"));
    move_moments(exp_avgs, exp_avg_sqs, grads, betas);
    Scalars sizes;
    Scalars corrections;
    const Rate lr(options);
    for (const double count : counts) {
      sizes.emplace_back(-lr.over(1 - std::pow(betas[0], count)).value());
      corrections.emplace_back(std::pow(1 - std::pow(betas[1], count), 0.5));
    }
    const Tensors divisors =
        at::_foreach_sqrt(options.flag("amsgrad") ? greatest_of(batch, exp_avg_sqs) : exp_avg_sqs);
    at::_foreach_div_(divisors, corrections);
    at::_foreach_add_(divisors, options.number("eps"));
    at::_foreach_addcdiv_(as_real(batch.params), exp_avgs, divisors, sizes);
  }

  static Tensors greatest_of(const Batch& batch, const Tensors& exp_avg_sqs) {
    Tensors max_exp_avg_sqs = as_real(batch.state_tensors("max_exp_avg_sq"));
    at::_foreach_maximum_(max_exp_avg_sqs, exp_avg_sqs);
    return max_exp_avg_sqs;
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
