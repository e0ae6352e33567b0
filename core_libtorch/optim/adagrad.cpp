// Adagrad, for dense and for sparse gradients.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/_fused_adagrad.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/sparse_coo_tensor.h>

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

class Adagrad final : public Algorithm {
 public:
  Adagrad()
      : Algorithm("Adagrad",
                  {{"lr", 1e-2},
                   {"lr_decay", 0},
                   {"eps", 1e-10},
                   {"weight_decay", 0},
                   {"initial_accumulator_value", 0},
                   {"foreach", {}},
                   {"maximize", false},
                   {"differentiable", false},
                   {"fused", {}}},
                  Sparse::kSupported) {}

  void check(const NamedValues& options) const override {
    require_rate(options);
    require_not_negative(options, {"lr_decay", "weight_decay", "initial_accumulator_value", "eps"});
    require_one_kernel(options);
  }

  void check_grad(const at::Tensor& param, const NamedValues& options) const override {
    require_fusable(param, options);
    if (param.grad().is_sparse() && options.number("weight_decay") != 0) {
      throw_invalid_argument("weight_decay option is not compatible with sparse gradients");
    }
  }

  bool starts_early() const override { return true; }

  void start(NamedValues& state, const at::Tensor& param, const NamedValues& options) const override {
    const double value = options.number("initial_accumulator_value");
    const at::Scalar first =
        param.is_complex() ? at::Scalar(c10::complex<double>(value, value)) : at::Scalar(value);
    state.set("step", counter(param, options));
    state.set("sum", at::full_like(param, first, {}, at::MemoryFormat::Preserve));
  }

  void step(Batch& batch) const override {
    const NamedValues& options = batch.options;
    if (options.flag("fused")) {
      const Tensors steps = batch.state_tensors("step");
      batch.require_shapes(batch.state_tensors("sum"), "sum");
      at::_foreach_add_(steps, 1);
      at::_fused_adagrad_(batch.params, batch.grads, batch.state_tensors("sum"), steps, options.number("lr"),
                          options.number("lr_decay"), options.number("weight_decay"), options.number("eps"),
                          options.flag("maximize"));
      return;
    }
    const Tensors grads = batch.decayed_grads();
    const std::vector<double> counts = batch.count_steps();
    const Tensors sums = batch.state_tensors("sum");
    Batch dense{options, {}, {}, {}};
    Tensors dense_sums;
    Scalars rates;
    for (size_t i = 0; i < grads.size(); ++i) {
      const double rate = -Rate(options).over(1 + (counts[i] - 1) * options.number("lr_decay")).value();
      if (grads[i].is_sparse()) {
        step_sparse(batch.params[i], grads[i].coalesce(), sums[i], rate, options.number("eps"));
      } else {
        dense.params.push_back(batch.params[i]);
        dense.grads.push_back(grads[i]);
        dense_sums.push_back(sums[i]);
        rates.emplace_back(rate);
      }
    }
    step_dense(dense, as_real(std::move(dense_sums)), rates);
  }

 private:
  static void step_dense(Batch& batch, const Tensors& sums, const Scalars& rates) {
    if (batch.params.empty()) {
      return;
    }
    const Tensors grads = as_real(batch.grads);
    at::_foreach_addcmul_(sums, grads, grads);
    const Tensors divisors = at::_foreach_sqrt(sums);
    at::_foreach_add_(divisors, batch.options.number("eps"));
    at::_foreach_addcdiv_(as_real(batch.params), grads, divisors, rates);
  }

  static void step_sparse(const at::Tensor& param, const at::Tensor& grad, const at::Tensor& sum, double rate,
                          double eps) {
    const at::Tensor places = grad._indices();
    auto spread = [&](const at::Tensor& values) {
      return at::sparse_coo_tensor(places, values, grad.sizes());
    };
    sum.add_(spread(grad._values().pow(2)));
    const at::Tensor divisors = sum.sparse_mask(grad)._values().sqrt_().add_(eps);
    param.add_(spread(grad._values().div(divisors)), rate);
  }
};

}  // namespace

const Algorithm& adagrad() {
  static const auto* const only = new Adagrad;
  return *only;
}

}  // namespace simple_torch::core::optim
