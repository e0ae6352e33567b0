// Gradient descent, with momentum.
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/empty_like.h>

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

class Sgd final : public Algorithm {
 public:
  Sgd()
      : Algorithm("SGD",
                  {{"lr", 1e-3},
                   {"momentum", 0},
                   {"dampening", 0},
                   {"weight_decay", 0},
                   {"nesterov", false},
                   {"maximize", false},
                   {"foreach", {}},
                   {"differentiable", false},
                   {"fused", {}}},
                  Sparse::kSupported) {}

  void check(const NamedValues& options) const override {
    require_rate(options);
    require_not_negative(options, {"momentum", "weight_decay"});
    if (options.flag("nesterov") && (options.number("momentum") <= 0 || options.number("dampening") != 0)) {
      throw_invalid_argument("Nesterov momentum requires a momentum and zero dampening");
    }
    require_one_kernel(options);
  }

  void check_grad(const at::Tensor& param, const NamedValues& options) const override {
    require_fusable(param, options);
  }

  void step(Batch& batch) const override {
    if (!batch.options.flag("fused")) {
      return step_each(batch);
    }
    // The kernel initializes momentum buffers at a first step, so first steps run apart from later ones.
    Batch first{batch.options, {}, {}, {}};
    Batch later{batch.options, {}, {}, {}};
    for (size_t i = 0; i < batch.params.size(); ++i) {
      Batch& part = has_momentum(*batch.states[i]) ? later : first;
      part.params.push_back(batch.params[i]);
      part.grads.push_back(batch.grads[i]);
      part.states.push_back(batch.states[i]);
    }
    step_fused(first, true);
    step_fused(later, false);
  }

 private:
  static bool has_momentum(const NamedValues& state) {
    const c10::IValue* buffer = state.find("momentum_buffer");
    return buffer != nullptr && buffer->isTensor();
  }

  static void step_fused(Batch& batch, bool is_first) {
    if (batch.params.empty()) {
      return;
    }
    const NamedValues& options = batch.options;
    const double momentum = options.number("momentum");
    if (momentum != 0 && is_first) {
      for (size_t i = 0; i < batch.params.size(); ++i) {
        batch.states[i]->set("momentum_buffer", at::empty_like(batch.grads[i]));
      }
    }
    const Tensors momenta = momentum != 0 ? batch.state_tensors("momentum_buffer") : Tensors();
    batch.require_shapes(momenta, "momentum_buffer");
    at::_fused_sgd_(batch.params, batch.grads, momenta, options.number("weight_decay"), momentum,
                    options.number("lr"), options.number("dampening"), options.flag("nesterov"),
                    options.flag("maximize"), momentum != 0 && is_first);
  }

  static void step_each(Batch& batch) {
    Tensors grads = batch.decayed_grads();
    if (batch.options.number("momentum") != 0) {
      grads = moved(batch, grads);
    }
    at::_foreach_add_(batch.params, grads, -batch.options.number("lr"));
  }

  static Tensors moved(Batch& batch, const Tensors& grads) {
    const double momentum = batch.options.number("momentum");
    Tensors buffered;
    Tensors buffered_grads;
    for (size_t i = 0; i < grads.size(); ++i) {
      if (has_momentum(*batch.states[i])) {
        buffered.push_back(batch.states[i]->tensor("momentum_buffer"));
        buffered_grads.push_back(grads[i]);
      } else {
        batch.states[i]->set("momentum_buffer", grads[i].clone());
      }
    }
    if (!buffered.empty()) {
      scale_(buffered, momentum);
      at::_foreach_add_(buffered, buffered_grads, 1 - batch.options.number("dampening"));
    }
    Tensors buffers = batch.state_tensors("momentum_buffer");
    return batch.options.flag("nesterov") ? at::_foreach_add(grads, buffers, momentum) : buffers;
  }
};

}  // namespace

const Algorithm& sgd() {
  static const auto* const only = new Sgd;
  return *only;
}

}  // namespace simple_torch::core::optim
