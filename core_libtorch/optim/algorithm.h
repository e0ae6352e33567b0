// The interface of an optimization algorithm: its options, its state per parameter, and a step for many
// parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "core_libtorch/optim/named_values.h"

namespace simple_torch::core::optim {

using Tensors = std::vector<at::Tensor>;
using Scalars = std::vector<at::Scalar>;

/// The parameters of one group, device and dtype that have gradients, with their states.
struct Batch {
  const NamedValues& options;
  Tensors params;
  Tensors grads;
  std::vector<NamedValues*> states;

  /// The state tensor `name` of each parameter.
  Tensors state_tensors(std::string_view name) const;
  /// LibTorch's fused kernels do not check shapes. Throws Error(kShapeMismatch) if a tensor's shape differs
  /// from its parameter's. An empty list passes.
  void require_shapes(const Tensors& tensors, const char* name) const;
  /// Increments the state tensor "step" of each parameter and returns the counts.
  std::vector<double> count_steps() const;
  /// The gradients, negated if the options set `maximize`.
  Tensors signed_grads() const;
  /// signed_grads() plus `weight_decay` times the parameters. With `decoupled_weight_decay` the parameters
  /// are decayed in place instead.
  Tensors decayed_grads() const;
  /// decayed_grads() computed on the real views of complex tensors. PyTorch's NAdam and RAdam do so; the
  /// kernels for real and complex numbers round differently on CPUs with AVX-512.
  Tensors decayed_real_grads() const;
  bool is_complex() const { return params.front().is_complex(); }

 private:
  Tensors decay(const Tensors& decayed_params, Tensors decayed) const;
};

/// torch.view_as_real of complex tensors; others unchanged.
Tensors as_real(Tensors tensors);

/// Multiplies by a number in place with the rounding of PyTorch's Python for 16-bit tensors. LibTorch's
/// mul_(Scalar), and _foreach_mul_ of lists on the CPU, would round the number first.
void scale_(const at::Tensor& tensor, double factor);
void scale_(const Tensors& tensors, double factor);
void scale_(const Tensors& tensors, const Scalars& factors);

/// Updates Adam's running means of gradients and of their squares in place.
void move_moments(const Tensors& means, const Tensors& squares, const Tensors& grads,
                  const std::vector<double>& betas);

/// A learning rate. If it is a tensor, values computed from it are rounded to its dtype, as in PyTorch.
class Rate {
 public:
  explicit Rate(const NamedValues& options, std::string_view name = "lr");

  double value() const noexcept { return value_; }
  Rate times(double factor) const { return with(value_ * rounded(factor)); }
  Rate over(double divisor) const { return with(value_ / rounded(divisor)); }
  /// 1 - rate
  double left() const { return rounded(1 - value_); }

 private:
  double rounded(double number) const { return is_single_ ? static_cast<float>(number) : number; }
  Rate with(double value) const;

  double value_;
  bool is_single_ = false;
};

/// Support of sparse gradients.
enum class Sparse { kUnsupported, kSupported, kRequired };

/// One algorithm of torch.optim. It is stateless: the optimizer owns the options and states.
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  Algorithm(const Algorithm&) = delete;
  Algorithm& operator=(const Algorithm&) = delete;

  const std::string& name() const noexcept { return name_; }
  /// Every option with its default, in PyTorch's order.
  const NamedValues& defaults() const noexcept { return defaults_; }

  /// Throws Error(kInvalidArgument) for options out of their range, in PyTorch's words.
  virtual void check(const NamedValues& options) const = 0;
  /// Throws Error(kInvalidArgument) for a parameter that it cannot train.
  virtual void check_param(const at::Tensor& /*param*/) const {}
  /// Throws Error(kInvalidArgument) for a gradient that it cannot use.
  virtual void check_grad(const at::Tensor& param, const NamedValues& options) const;
  /// Whether states are initialized with the optimizer, not at a parameter's first step.
  virtual bool starts_early() const { return false; }
  /// Initializes the empty state of a parameter.
  virtual void start(NamedValues& /*state*/, const at::Tensor& /*param*/,
                     const NamedValues& /*options*/) const {}
  /// Whether a number that a checkpoint has for this state name becomes a 0-d tensor, as in old checkpoints.
  virtual bool is_counter(std::string_view state_name) const { return state_name == "step"; }
  /// Changes the parameters in place. Runs below autograd; the batch is not empty.
  virtual void step(Batch& batch) const = 0;

 protected:
  Algorithm(std::string name, NamedValues defaults, Sparse sparse = Sparse::kUnsupported)
      : name_(std::move(name)), defaults_(std::move(defaults)), sparse_(sparse) {}

 private:
  std::string name_;
  NamedValues defaults_;
  Sparse sparse_;
};

/// A 0-d counter: float32, or float64 if that is the default dtype. On the CPU, unless the kernels require it
/// on the parameter's device.
at::Tensor counter(const at::Tensor& param, const NamedValues& options, double value = 0);
/// Zeros like the parameter, with its memory format.
at::Tensor zeros_for(const at::Tensor& param);

/// Throws Error(kInvalidArgument): "`what`: VALUE", unless `holds`.
void require_option(bool holds, const char* what, const c10::IValue& value);
/// lr, and each of `names`, must be at least 0. The message is PyTorch's: "Invalid weight_decay value: -1".
void require_rate(const NamedValues& options);
void require_not_negative(const NamedValues& options, std::initializer_list<const char*> names);
void require_betas(const NamedValues& options);
/// Adam's checks of lr, eps, betas and weight_decay, in PyTorch's order.
void require_of_adams(const NamedValues& options);
/// `fused` excludes `foreach` and `differentiable`.
void require_one_kernel(const NamedValues& options);
/// Throws Error(kInvalidArgument) if `fused` is set and no fused kernel exists for the parameter.
void require_fusable(const at::Tensor& param, const NamedValues& options);

}  // namespace simple_torch::core::optim
