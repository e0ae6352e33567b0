// Muon: orthogonalized momentum, for matrices.
#include <ATen/ops/addmm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <cmath>

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

class Muon final : public Algorithm {
 public:
  Muon()
      : Algorithm("Muon", {{"lr", 1e-3},
                           {"weight_decay", 0.1},
                           {"momentum", 0.95},
                           {"nesterov", true},
                           {"ns_coefficients", list_of({3.4445, -4.775, 2.0315})},
                           {"eps", 1e-7},
                           {"ns_steps", 5},
                           {"adjust_lr_fn", {}}}) {}

  void check(const NamedValues& options) const override {
    require_option(options.number("lr") >= 0, "Learning rate should be >= 0 but is", options.at("lr"));
    require_option(options.number("momentum") >= 0, "momentum should be >= 0 but is", options.at("momentum"));
    require_option(options.number("weight_decay") >= 0, "weight decay should be >= 0 but is",
                   options.at("weight_decay"));
    const std::string adjust = adjustment(options);
    if (adjust != "original" && adjust != "match_rms_adamw" && adjust != "spectral_unclamped") {
      throw_invalid_argument("Adjust learning rate function " + adjust + " is not supported");
    }
    options.numbers("ns_coefficients", 3);
  }

  void check_param(const at::Tensor& param) const override {
    if (param.dim() != 2) {
      std::string sizes;
      for (const int64_t size : param.sizes()) {
        sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
      }
      throw_invalid_argument(
          "Muon only supports 2D parameters whereas we found a parameter with size: torch.Size([" + sizes +
          "])");
    }
  }

  void check_grad(const at::Tensor& param, const NamedValues& options) const override {
    if (param.is_complex()) {
      throw_invalid_argument("Muon does not support complex parameters");
    }
    if (options.number("ns_steps") >= 100) {
      throw_invalid_argument("Number of steps must be less than 100 for computational efficiency");
    }
    Algorithm::check_grad(param, options);
  }

  void start(NamedValues& state, const at::Tensor& param, const NamedValues& /*options*/) const override {
    state.set("momentum_buffer", zeros_for(param.grad()));
  }

  void step(Batch& batch) const override {
    const NamedValues& options = batch.options;
    const double momentum = options.number("momentum");
    const Rate lr(options);
    for (size_t i = 0; i < batch.params.size(); ++i) {
      const at::Tensor& buffer = batch.states[i]->tensor("momentum_buffer");
      buffer.lerp_(batch.grads[i], 1 - momentum);
      const at::Tensor gradient = options.flag("nesterov") ? batch.grads[i].lerp(buffer, momentum) : buffer;
      const at::Tensor update = orthogonal(gradient, options);
      const at::Tensor& param = batch.params[i];
      scale_(param, lr.times(options.number("weight_decay")).left());
      param.add_(update, -lr.times(ratio(param, adjustment(options))).value());
    }
  }

 private:
  static std::string adjustment(const NamedValues& options) {
    const c10::IValue& name = options.at("adjust_lr_fn");
    return name.isNone() ? "original" : name.isString() ? name.toStringRef() : repr(name);
  }

  /// The Newton-Schulz iteration in bfloat16.
  static at::Tensor orthogonal(const at::Tensor& gradient, const NamedValues& options) {
    const std::vector<double> factors = options.numbers("ns_coefficients", 3);
    const bool is_tall = gradient.size(0) > gradient.size(1);
    at::Tensor result = gradient.to(at::kBFloat16, false, true);
    if (is_tall) {
      result = result.t();
    }
    result.div_(at::linalg_vector_norm(result, 2).clamp(options.number("eps")));
    for (int64_t i = 0; i < static_cast<int64_t>(options.number("ns_steps")); ++i) {
      const at::Tensor gram = at::matmul(result, result.t());
      const at::Tensor gram_update = at::addmm(gram, gram, gram, factors[1], factors[2]);
      result = at::addmm(result, gram_update, result, factors[0]);
    }
    return is_tall ? result.t() : result;
  }

  static double ratio(const at::Tensor& param, const std::string& adjust) {
    const auto rows = static_cast<double>(param.size(0));
    const auto columns = static_cast<double>(param.size(1));
    if (adjust == "match_rms_adamw") {
      return 0.2 * std::sqrt(std::max(rows, columns));
    }
    return std::sqrt(adjust == "original" ? std::max(1.0, rows / columns) : rows / columns);
  }
};

}  // namespace

const Algorithm& muon() {
  static const auto* const only = new Muon;
  return *only;
}

}  // namespace simple_torch::core::optim
