// SparseAdam: Adam for sparse gradients.
#include <ATen/ops/sparse_coo_tensor.h>

#include <cmath>

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

class SparseAdam final : public Algorithm {
 public:
  SparseAdam()
      : Algorithm("SparseAdam",
                  {{"lr", 1e-3}, {"betas", list_of({0.9, 0.999})}, {"eps", 1e-8}, {"maximize", false}},
                  Sparse::kRequired) {}

  void check(const NamedValues& options) const override {
    require_option(options.number("lr") > 0, "Invalid learning rate", options.at("lr"));
    require_option(options.number("eps") > 0, "Invalid epsilon value", options.at("eps"));
    require_betas(options);
  }

  void check_param(const at::Tensor& param) const override {
    if (param.is_sparse()) {
      throw_invalid_argument("SparseAdam requires dense parameter tensors");
    }
    if (param.is_complex()) {
      throw_invalid_argument("SparseAdam does not support complex parameters");
    }
  }

  bool is_counter(std::string_view /*state_name*/) const override { return false; }

  void start(NamedValues& state, const at::Tensor& param, const NamedValues& /*options*/) const override {
    state.set("step", int64_t{0});
    state.set("exp_avg", zeros_for(param));
    state.set("exp_avg_sq", zeros_for(param));
  }

  void step(Batch& batch) const override {
    const Tensors grads = batch.signed_grads();
    for (size_t i = 0; i < grads.size(); ++i) {
      NamedValues& state = *batch.states[i];
      state.set("step", state.at("step").toInt() + 1);
      const at::Tensor grad = grads[i].coalesce();
      if (grad._values().numel() != 0) {
        step_one(batch.params[i], grad, state, batch.options);
      }
    }
  }

 private:
  static void step_one(const at::Tensor& param, const at::Tensor& grad, const NamedValues& state,
                       const NamedValues& options) {
    const std::vector<double> betas = options.numbers("betas", 2);
    const at::Tensor grads = grad._values();
    auto spread = [&](const at::Tensor& values) {
      return at::sparse_coo_tensor(grad._indices(), values, grad.sizes());
    };
    const at::Tensor& average = state.tensor("exp_avg");
    const at::Tensor& squares = state.tensor("exp_avg_sq");
    const at::Tensor old_average = average.sparse_mask(grad)._values();
    const at::Tensor new_average = grads.sub(old_average);
    scale_(new_average, 1 - betas[0]);
    average.add_(spread(new_average));
    const at::Tensor old_squares = squares.sparse_mask(grad)._values();
    const at::Tensor new_squares = grads.pow(2).sub_(old_squares);
    scale_(new_squares, 1 - betas[1]);
    squares.add_(spread(new_squares));
    new_average.add_(old_average);
    const at::Tensor divisors = new_squares.add_(old_squares).sqrt_().add_(options.number("eps"));
    const auto count = static_cast<double>(state.at("step").toInt());
    const Rate size =
        Rate(options).times(std::sqrt(1 - std::pow(betas[1], count))).over(1 - std::pow(betas[0], count));
    param.add_(spread(new_average.div_(divisors).mul(-size.value())));
  }
};

}  // namespace

const Algorithm& sparse_adam() {
  static const auto* const only = new SparseAdam;
  return *only;
}

}  // namespace simple_torch::core::optim
