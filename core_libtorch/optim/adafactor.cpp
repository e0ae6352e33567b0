// Adafactor.
#include <ATen/Dispatch.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

class Adafactor final : public Algorithm {
 public:
  Adafactor()
      : Algorithm("Adafactor", {{"lr", 1e-2},
                                {"beta2_decay", -0.8},
                                {"eps", list_of({c10::IValue(), 1e-3})},
                                {"d", 1.0},
                                {"weight_decay", 0.0},
                                {"foreach", {}},
                                {"maximize", false}}) {}

  void check(const NamedValues& options) const override {
    require(options, options.number("lr") >= 0, "Learning rate should be >= 0", "lr");
    require(options, options.number("beta2_decay") <= 0, "beta2_decay should be <= 0", "beta2_decay");
    const c10::IValue& eps = options.at("eps");
    if (!eps.isList() || eps.toListRef().size() != 2) {
      throw_invalid_argument("eps must be 2 values, got " + repr(eps));
    }
    const auto both = eps.toListRef();
    require_option(both[0].isNone() || number_in("eps", both[0]) >= 0, "epsilon1 should be >= 0 but is",
                   both[0]);
    require_option(number_in("eps", both[1]) >= 0, "epsilon2 should be >= 0 but is", both[1]);
    require(options, options.number("d") >= 1, "Clipping threshold d should be >= 1", "d");
    require(options, options.number("weight_decay") >= 0, "weight_decay should be >= 0", "weight_decay");
  }

  void check_grad(const at::Tensor& param, const NamedValues& options) const override {
    if (param.is_complex()) {
      throw_invalid_argument("Adafactor does not support complex parameters");
    }
    Algorithm::check_grad(param, options);
  }

  void start(NamedValues& state, const at::Tensor& param, const NamedValues& options) const override {
    const at::Tensor& grad = param.grad();
    state.set("step", counter(param, options));
    if (grad.dim() > 1) {
      state.set("row_var", zeros_with_one(grad, -1));
      state.set("col_var", zeros_with_one(grad, -2));
    } else {
      state.set("variance", zeros_for(grad));
    }
  }

  void step(Batch& batch) const override {
    const NamedValues& options = batch.options;
    const Tensors grads = batch.signed_grads();
    const std::vector<double> counts = batch.count_steps();
    const double d = options.number("d");
    for (size_t i = 0; i < grads.size(); ++i) {
      const at::Tensor& param = batch.params[i];
      const double alpha = rate_of(param, counts[i], options);
      if (options.number("weight_decay") != 0) {
        scale_(param, Rate(options).times(options.number("weight_decay")).left());
      }
      const at::Tensor update =
          update_of(*batch.states[i], grads[i], std::pow(counts[i], options.number("beta2_decay")),
                    lower_bound(options, param));
      const double size = norm(update) / (std::pow(static_cast<double>(update.numel()), 0.5) * d);
      param.add_(update, -alpha / std::max(1.0, size));
    }
  }

 private:
  static void require(const NamedValues& options, bool holds, const char* what, const char* name) {
    require_option(holds, (std::string(what) + " but is").c_str(), options.at(name));
  }

  static at::Tensor zeros_with_one(const at::Tensor& grad, int64_t dim) {
    std::vector<int64_t> sizes = grad.sizes().vec();
    sizes[static_cast<size_t>(grad.dim() + dim)] = 1;
    return grad.new_zeros(sizes);
  }

  static double norm(const at::Tensor& tensor) {
    std::vector<int64_t> dims;
    for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
      dims.push_back(dim);
    }
    return at::linalg_vector_norm(tensor, 2, dims).item<double>();
  }

  /// epsilon1: the lower bound of the variance.
  static double lower_bound(const NamedValues& options, const at::Tensor& param) {
    const c10::IValue& eps = options.at("eps").toListRef()[0];
    if (!eps.isNone()) {
      return number_in("eps", eps);
    }
    return AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, param.scalar_type(), "finfo", [] {
      return static_cast<double>(std::numeric_limits<scalar_t>::epsilon());
    });
  }

  static double rate_of(const at::Tensor& param, double count, const NamedValues& options) {
    const double rho = std::min(options.number("lr"), 1 / std::pow(count, 0.5));
    const double size = norm(param) / std::pow(static_cast<double>(param.numel()), 0.5);
    return std::max(number_in("eps", options.at("eps").toListRef()[1]), size) * rho;
  }

  static at::Tensor update_of(const NamedValues& state, const at::Tensor& grad, double weight,
                              double lower_bound) {
    at::Tensor variance;
    if (grad.dim() > 1) {
      const at::Tensor& rows = state.tensor("row_var");
      const at::Tensor& columns = state.tensor("col_var");
      rows.lerp_(mean_of_squares(grad, -1), weight);
      columns.lerp_(mean_of_squares(grad, -2), weight);
      variance = at::matmul(rows, columns).div_(rows.mean(at::IntArrayRef{-2}, true).clamp_(lower_bound));
    } else {
      const at::Tensor& squares = state.tensor("variance");
      squares.lerp_(grad.mul(grad), weight);
      variance = squares.clone();
    }
    return variance.clamp_(lower_bound * lower_bound).rsqrt_().mul_(grad);
  }

  static at::Tensor mean_of_squares(const at::Tensor& grad, int64_t dim) {
    return at::linalg_vector_norm(grad, 2, dim, true).square_().div_(grad.size(dim));
  }
};

}  // namespace

const Algorithm& adafactor() {
  static const auto* const only = new Adafactor;
  return *only;
}

}  // namespace simple_torch::core::optim
