// The options of L-BFGS. The program implements the step, which calls a closure.

#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::core::optim {
namespace {

class Lbfgs final : public Algorithm {
 public:
  Lbfgs()
      : Algorithm("LBFGS",
                  {{"lr", 1},
                   {"max_iter", 20},
                   {"max_eval", {}},
                   {"tolerance_grad", 1e-7},
                   {"tolerance_change", 1e-9},
                   {"history_size", 100},
                   {"line_search_fn", {}},
                   {"maximize", false}},
                  Sparse::kSupported) {}

  void check(const NamedValues& options) const override { require_rate(options); }
  bool is_counter(std::string_view /*state_name*/) const override { return false; }
  void step(Batch& /*batch*/) const override {
    throw_invalid_argument("LBFGS requires a closure; call its own step()");
  }
};

}  // namespace

const Algorithm& lbfgs() {
  static const auto* const only = new Lbfgs;
  return *only;
}

}  // namespace simple_torch::core::optim
