// The algorithms of torch.optim, each in a file of its name.
#pragma once

#include "core_libtorch/optim/algorithm.h"

namespace simple_torch::core::optim {

const Algorithm& adadelta();
const Algorithm& adafactor();
const Algorithm& adagrad();
const Algorithm& adam();
const Algorithm& adamax();
const Algorithm& adamw();
const Algorithm& asgd();
const Algorithm& lbfgs();
const Algorithm& muon();
const Algorithm& nadam();
const Algorithm& radam();
const Algorithm& rmsprop();
const Algorithm& rprop();
const Algorithm& sgd();
const Algorithm& sparse_adam();

/// The algorithm by PyTorch's class name. Throws Error(kInvalidArgument), which lists the known names.
const Algorithm& algorithm_of(const std::string& name);

/// An option with several values.
inline c10::IValue list_of(std::initializer_list<c10::IValue> values) {
  c10::impl::GenericList list(c10::AnyType::get());
  for (const c10::IValue& value : values) {
    list.push_back(value);
  }
  return list;
}

}  // namespace simple_torch::core::optim
