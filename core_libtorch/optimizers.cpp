// Adam, AdamW and SGD over LibTorch's fused kernels.
#include "core_libtorch/optimizers.h"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>
#include <utility>

#include "core_libtorch/explained.h"
#include "core_libtorch/ops.h"

namespace simple_torch::core {
namespace {

void require_range(const char* name, double value, bool within, const char* range) {
  if (!within || std::isnan(value)) {
    throw Error(ErrorKind::kInvalidArgument,
                std::string(name) + " must be " + range + ", not " + std::to_string(value));
  }
}

void require_not_negative(const char* name, double value) {
  require_range(name, value, value >= 0, "at least 0");
}

class Adam final : public Optimizer {
 public:
  Adam(std::vector<at::Tensor> params, const AdamOptions& options)
      : Optimizer(std::move(params), options.lr), options_(options), states_(this->params().size()) {}

 private:
  /// What Adam remembers of one parameter; made at its first step.
  struct State {
    at::Tensor step;  // float32, on the parameter's device
    at::Tensor mean;
    at::Tensor mean_of_squares;
    at::Tensor greatest_mean_of_squares;  // for amsgrad only
  };

  State& state_of(size_t place) {
    State& state = states_[place];
    if (!state.step.defined()) {
      const at::Tensor& param = params()[place];
      state.step = at::zeros({}, param.options().dtype(at::kFloat));
      state.mean = at::zeros_like(param, {}, at::MemoryFormat::Preserve);
      state.mean_of_squares = at::zeros_like(param, {}, at::MemoryFormat::Preserve);
      if (options_.amsgrad) {
        state.greatest_mean_of_squares = at::zeros_like(param, {}, at::MemoryFormat::Preserve);
      }
    }
    return state;
  }

  void step_group(const std::vector<size_t>& group) override {
    std::vector<at::Tensor> params_now;
    std::vector<at::Tensor> grads;
    std::vector<at::Tensor> means;
    std::vector<at::Tensor> squares;
    std::vector<at::Tensor> greatest;
    std::vector<at::Tensor> steps;
    for (const size_t place : group) {
      State& state = state_of(place);
      params_now.push_back(params()[place]);
      grads.push_back(params()[place].grad());
      means.push_back(state.mean);
      squares.push_back(state.mean_of_squares);
      if (options_.amsgrad) {
        greatest.push_back(state.greatest_mean_of_squares);
      }
      state.step.add_(1);  // the kernel divides by 1 - beta^step: at step 0 that would be NaN
      steps.push_back(state.step);
    }
    if (options_.decoupled) {
      at::_fused_adamw_(params_now, grads, means, squares, greatest, steps, lr(), options_.beta1,
                        options_.beta2, options_.weight_decay, options_.eps, options_.amsgrad, false);
    } else {
      at::_fused_adam_(params_now, grads, means, squares, greatest, steps, lr(), options_.beta1,
                       options_.beta2, options_.weight_decay, options_.eps, options_.amsgrad, false);
    }
  }

  AdamOptions options_;
  std::vector<State> states_;  // one for each parameter
};

class Sgd final : public Optimizer {
 public:
  Sgd(std::vector<at::Tensor> params, const SgdOptions& options)
      : Optimizer(std::move(params), options.lr), options_(options), momenta_(this->params().size()) {}

 private:
  void step_group(const std::vector<size_t>& group) override {
    // The kernel overwrites the momenta in the first step, so first steps go apart from later ones.
    std::vector<size_t> first;
    std::vector<size_t> later;
    for (const size_t place : group) {
      (momenta_[place].defined() ? later : first).push_back(place);
    }
    step_some(first, true);
    step_some(later, false);
  }

  void step_some(const std::vector<size_t>& group, bool is_first) {
    if (group.empty()) {
      return;
    }
    std::vector<at::Tensor> params_now;
    std::vector<at::Tensor> grads;
    std::vector<at::Tensor> momenta;
    for (const size_t place : group) {
      params_now.push_back(params()[place]);
      grads.push_back(params()[place].grad());
      if (options_.momentum != 0) {
        if (is_first) {
          momenta_[place] = at::empty_like(params()[place]);
        }
        momenta.push_back(momenta_[place]);
      }
    }
    at::_fused_sgd_(params_now, grads, momenta, options_.weight_decay, options_.momentum, lr(),
                    options_.dampening, options_.nesterov, false, is_first);
  }

  SgdOptions options_;
  std::vector<at::Tensor> momenta_;  // one for each parameter; undefined before its first step
};

}  // namespace

Optimizer::Optimizer(std::vector<at::Tensor> params, double lr) : params_(std::move(params)) {
  set_lr(lr);
  if (params_.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "an optimizer needs at least one parameter");
  }
  std::unordered_set<const void*> seen;
  for (size_t i = 0; i < params_.size(); ++i) {
    const std::string name = "parameter " + std::to_string(i);
    if (!seen.insert(params_[i].unsafeGetTensorImpl()).second) {
      throw Error(ErrorKind::kInvalidArgument, name + " is given twice");
    }
    if (!params_[i].is_leaf()) {
      throw Error(ErrorKind::kInvalidArgument,
                  name + " is the result of an operation; only leaves can be optimized");
    }
    if (!params_[i].is_floating_point()) {
      throw Error(ErrorKind::kInvalidArgument,
                  name + " has dtype " + dtype_name(params_[i].scalar_type()) + "; a floating one is needed");
    }
  }
}

void Optimizer::step() {
  const c10::AutoGradMode no_grad(false);
  for (const auto& group : groups_to_step()) {
    step_group(group);
  }
}

void Optimizer::zero_grad(bool set_to_none) const {
  for (const at::Tensor& param : params_) {
    if (set_to_none) {
      param.mutable_grad().reset();
    } else {
      core::zero_grad(param);
    }
  }
}

void Optimizer::set_lr(double lr) {
  require_not_negative("lr", lr);
  lr_ = lr;
}

std::vector<std::vector<size_t>> Optimizer::groups_to_step() const {
  std::vector<std::vector<size_t>> groups;
  for (size_t place = 0; place < params_.size(); ++place) {
    const at::Tensor& param = params_[place];
    if (!param.grad().defined()) {
      continue;
    }
    auto fits = [&](const std::vector<size_t>& group) {
      const at::Tensor& other = params_[group.front()];
      return other.device() == param.device() && other.scalar_type() == param.scalar_type();
    };
    auto group = std::find_if(groups.begin(), groups.end(), fits);
    if (group == groups.end()) {
      groups.push_back({place});
    } else {
      group->push_back(place);
    }
  }
  return groups;
}

std::unique_ptr<Optimizer> make_adam(std::vector<at::Tensor> params, const AdamOptions& options) {
  require_range("beta1", options.beta1, options.beta1 >= 0 && options.beta1 < 1, "at least 0 and below 1");
  require_range("beta2", options.beta2, options.beta2 >= 0 && options.beta2 < 1, "at least 0 and below 1");
  require_not_negative("eps", options.eps);
  require_not_negative("weight_decay", options.weight_decay);
  return std::make_unique<Adam>(std::move(params), options);
}

std::unique_ptr<Optimizer> make_sgd(std::vector<at::Tensor> params, const SgdOptions& options) {
  require_not_negative("momentum", options.momentum);
  require_not_negative("weight_decay", options.weight_decay);
  if (options.nesterov && (options.momentum <= 0 || options.dampening != 0)) {
    throw Error(ErrorKind::kInvalidArgument,
                "Nesterov momentum needs a momentum above 0 and a dampening of 0");
  }
  return std::make_unique<Sgd>(std::move(params), options);
}

}  // namespace simple_torch::core
