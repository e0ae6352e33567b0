// An optimizer: parameter groups with options of their own, and what an algorithm remembers of each
// parameter.
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

/// The parameters are the tensors given; they are changed in place.
class Optimizer {
 public:
  /// Options that are not given are the algorithm's. Throws Error(kInvalidArgument) for an option that it
  /// does not have, or one out of its range.
  Optimizer(const Algorithm& algorithm, const NamedValues& options);

  /// Options that are not given are the optimizer's; others than the algorithm's are kept for the program.
  ///
  /// Throws Error(kInvalidArgument) for a parameter that is given twice or is in another group, for one that
  /// is no leaf of floating or complex numbers, and for options out of range.
  void add_group(Tensors params, const NamedValues& options);

  /// One step for each parameter that has a gradient. Not recorded by autograd.
  void step();

  /// Removes the gradients, or fills them with zeros.
  void zero_grad(bool set_to_none) const;

  size_t group_count() const noexcept { return groups_.size(); }
  /// Throws Error(kIndexOutOfRange).
  Group& group(int64_t index);
  /// What is remembered of a parameter, counted through all groups. Throws Error(kIndexOutOfRange).
  NamedValues& state(int64_t param);
  /// Remembers a value of a checkpoint for a parameter: tensors go to its device, and to its dtype unless
  /// they count. Throws Error(kIndexOutOfRange).
  void load_state(int64_t param, const std::string& name, const c10::IValue& value);
  const Algorithm& algorithm() const noexcept { return algorithm_; }

 private:
  /// Throws Error(kIndexOutOfRange).
  std::pair<Group*, size_t> place_of(int64_t param);
  void check_params(const Tensors& params) const;
  /// Those with a gradient, by device and dtype. Throws before any of them is changed.
  std::vector<Batch> batches_of(Group& group) const;

  const Algorithm& algorithm_;
  NamedValues defaults_;
  std::vector<Group> groups_;
};

}  // namespace simple_torch::core::optim
