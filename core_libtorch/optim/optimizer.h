// An optimizer: parameter groups with their options, and the state of each parameter.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "core_libtorch/optim/algorithm.h"

namespace simple_torch::core::optim {

struct Group {
  Tensors params;
  NamedValues options;
  std::vector<NamedValues> states;  // one for each parameter; empty before its first step
};

/// The optimizer changes the parameters in place.
class Optimizer {
 public:
  /// Missing options have the algorithm's defaults. Throws Error(kInvalidArgument) for an unknown option or a
  /// value out of range.
  Optimizer(const Algorithm& algorithm, const NamedValues& options);

  /// Missing options have the optimizer's defaults. Options that the algorithm does not know are stored for
  /// the program.
  ///
  /// Throws Error(kInvalidArgument) for a duplicate parameter, also of another group, for one that is not a
  /// leaf of floating-point or complex numbers, and for options out of range.
  void add_group(Tensors params, const NamedValues& options);

  /// One step for each parameter that has a gradient. Not recorded by autograd.
  void step();

  /// Removes the gradients, or fills them with zeros.
  void zero_grad(bool set_to_none) const;

  size_t group_count() const noexcept { return groups_.size(); }
  /// Throws Error(kIndexOutOfRange).
  Group& group(int64_t index);
  /// The state of a parameter, indexed through all groups. Throws Error(kIndexOutOfRange).
  NamedValues& state(int64_t param);
  /// Loads a checkpoint's value into a parameter's state. Tensors are converted to the parameter's device,
  /// and to its dtype unless they are step counters. Throws Error(kIndexOutOfRange).
  void load_state(int64_t param, const std::string& name, const c10::IValue& value);
  const Algorithm& algorithm() const noexcept { return algorithm_; }

 private:
  /// Throws Error(kIndexOutOfRange).
  std::pair<Group*, size_t> position_of(int64_t param);
  void check_params(const Tensors& params) const;
  /// The parameters with a gradient, by device and dtype. Throws before it changes any of them.
  std::vector<Batch> batches_of(Group& group) const;

  const Algorithm& algorithm_;
  NamedValues defaults_;
  std::vector<Group> groups_;
};

}  // namespace simple_torch::core::optim
