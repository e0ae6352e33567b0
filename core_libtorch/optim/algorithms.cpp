#include "core_libtorch/optim/algorithms.h"

#include <array>

namespace simple_torch::core::optim {

const Algorithm& algorithm_of(const std::string& name) {
  static const std::array all = {&adadelta(), &adafactor(), &adagrad(), &adam(), &adamax(),
                                 &adamw(),    &asgd(),      &lbfgs(),   &muon(), &nadam(),
                                 &radam(),    &rmsprop(),   &rprop(),   &sgd(),  &sparse_adam()};
  std::string names;
  for (const Algorithm* algorithm : all) {
    if (algorithm->name() == name) {
      return *algorithm;
    }
    names += (names.empty() ? "" : ", ") + algorithm->name();
  }
  throw_invalid_argument("unknown optimizer '" + name + "'; known optimizers: " + names);
}

}  // namespace simple_torch::core::optim
