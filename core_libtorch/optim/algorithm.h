// What an optimization algorithm is: options, what it remembers of a parameter, and its step for many
// parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "core_libtorch/optim/named_values.h"

namespace simple_torch::core::optim {

using Tensors = std::vector<at::Tensor>;
using Scalars = std::vector<at::Scalar>;

/// Parameters of one group, device and dtype that have gradients, with what is remembered of each.
struct Batch {
  const NamedValues& options;
  Tensors params;
  Tensors grads;
  std::vector<NamedValues*> states;

  /// The tensor of that name of each parameter.
  Tensors state_tensors(std::string_view name) const;
  /// LibTorch's fused kernels look at no shapes. Throws Error(kShapeMismatch) where one of them is not its
  /// parameter's; none at all will do.
  void require_shapes(const Tensors& tensors, const char* name) const;
  /// Counts one step for each parameter and gives the counts. The counter is the tensor "step".
  std::vector<double> count_steps() const;
  /// The gradients, negated if the options set `maximize`.
  Tensors signed_grads() const;
  /// signed_grads() plus `weight_decay` times the parameters. With `decoupled_weight_decay` the parameters
  /// shrink in place instead.
  Tensors decayed_grads() const;
  /// decayed_grads() computed on the real views of complex tensors. PyTorch's NAdam and RAdam do so; the
  /// kernels for real and complex numbers round differently on CPUs with AVX-512.
  Tensors decayed_real_grads() const;
  bool is_complex() const { return params.front().is_complex(); }

 private:
  Tensors decay(const Tensors& decayed_params, Tensors decayed) const;
};

/// Complex tensors as real ones with one more dimension, over the same memory; others as they are.
Tensors as_real(Tensors tensors);

/// Multiplies by a number in place, with PyTorch's rounding for 16-bit tensors: its Python multiplies by the
/// number as it is, where LibTorch's mul_(Scalar), and _foreach_mul_ of lists on the CPU, round it first.
void scale_(const at::Tensor& tensor, double factor);
void scale_(const Tensors& tensors, double factor);
void scale_(const Tensors& tensors, const Scalars& factors);

/// The running means of gradients and of their squares that Adam and its kin keep, one step on, in place.
void move_moments(const Tensors& means, const Tensors& squares, const Tensors& grads,
                  const std::vector<double>& betas);

/// A learning rate. Where the program gave a tensor, what is computed from it is rounded to its dtype, as in
/// PyTorch.
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

enum class Sparse { kRefused, kTaken, kNeeded };

/// One algorithm of torch.optim. It has no state of its own: options and memory belong to the optimizer.
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
  /// Whether memory is made when the optimizer is made, rather than at a parameter's first step.
  virtual bool starts_early() const { return false; }
  /// Makes the memory of a parameter. Called while it is empty.
  virtual void start(NamedValues& /*state*/, const at::Tensor& /*param*/,
                     const NamedValues& /*options*/) const {}
  /// Whether a number that is loaded under that name of the memory becomes a 0-d tensor, as in checkpoints of
  /// old.
  virtual bool is_counter(std::string_view state_name) const { return state_name == "step"; }
  /// Changes the parameters in place. Runs below autograd; the batch is not empty.
  virtual void step(Batch& batch) const = 0;

 protected:
  Algorithm(std::string name, NamedValues defaults, Sparse sparse = Sparse::kRefused)
      : name_(std::move(name)), defaults_(std::move(defaults)), sparse_(sparse) {}

 private:
  std::string name_;
  NamedValues defaults_;
  Sparse sparse_;
};

/// A 0-d counter: float32, or float64 where that is the default dtype. On the CPU, unless the kernels want it
/// beside the parameter.
at::Tensor counter(const at::Tensor& param, const NamedValues& options, double value = 0);
/// Zeros like the parameter, in its memory format.
at::Tensor zeros_for(const at::Tensor& param);

/// Throws Error(kInvalidArgument): "`what`: VALUE", unless `holds`.
void require_option(bool holds, const char* what, const c10::IValue& value);
/// lr, and each of `names`, must be at least 0, said as PyTorch does: "Invalid weight_decay value: -1".
void require_rate(const NamedValues& options);
void require_not_negative(const NamedValues& options, std::initializer_list<const char*> names);
void require_betas(const NamedValues& options);
/// What Adam and its kin demand of lr, eps, betas and weight_decay, in PyTorch's order.
void require_of_adams(const NamedValues& options);
/// `fused` goes with neither `foreach` nor `differentiable`.
void require_one_kernel(const NamedValues& options);
/// Throws Error(kInvalidArgument) where `fused` is asked for and there is no such kernel for the parameter.
void require_fusable(const at::Tensor& param, const NamedValues& options);

}  // namespace simple_torch::core::optim
