// Optimizers that step with LibTorch's fused kernels, one call for all parameters of a device and dtype.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace simple_torch::core {

/// The parameters are the tensors given at the start; they are changed in place.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One step for each parameter that has a gradient. Not recorded by autograd.
  void step();

  /// Removes the gradients, or fills them with zeros.
  void zero_grad(bool set_to_none) const;

  double lr() const noexcept { return lr_; }

  /// Throws Error(kInvalidArgument) for a negative rate.
  void set_lr(double lr);

 protected:
  /// Throws Error(kInvalidArgument) without parameters, for one given twice, or for one that is no leaf of
  /// floating numbers.
  Optimizer(std::vector<at::Tensor> params, double lr);

  const std::vector<at::Tensor>& params() const noexcept { return params_; }

  /// Steps parameters of one device and dtype, all of which have a gradient; runs in no-grad mode.
  virtual void step_group(const std::vector<size_t>& places) = 0;

 private:
  /// The places of the parameters that have a gradient, grouped by device and dtype, as the kernels want.
  std::vector<std::vector<size_t>> groups_to_step() const;

  std::vector<at::Tensor> params_;
  double lr_ = 0;
};

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  bool decoupled = false;  // AdamW: the decay acts on the weights, not through the gradient
};

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
};

/// torch.optim.Adam and AdamW with fused=True. Throws Error(kInvalidArgument) for options out of range.
std::unique_ptr<Optimizer> make_adam(std::vector<at::Tensor> params, const AdamOptions& options);

/// torch.optim.SGD with fused=True. Throws Error(kInvalidArgument) for options out of range.
std::unique_ptr<Optimizer> make_sgd(std::vector<at::Tensor> params, const SgdOptions& options);

}  // namespace simple_torch::core
