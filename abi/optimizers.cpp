// Bodies of the optimizers.
#include "core_libtorch/optimizers.h"

#include <memory>

#include "abi/generated/backend_table.h"
#include "abi/guarded.h"
#include "abi/tensor_arguments.h"
#include "core_libtorch/explained.h"

namespace simple_torch::abi {

using OptimizerPointer = std::unique_ptr<core::Optimizer>;

template <>
struct HandleKindOf<OptimizerPointer> {
  static constexpr HandleKind value = HandleKind::kOptimizer;
};

namespace body {

int32_t optim_adam_new(const int64_t* params, int64_t params_len, double lr, double beta1, double beta2,
                       double eps, double weight_decay, bool amsgrad, bool decoupled, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    *out = handles().insert(core::make_adam(tensor_list(params, params_len),
                                            {lr, beta1, beta2, eps, weight_decay, amsgrad, decoupled}));
  });
}

int32_t optim_sgd_new(const int64_t* params, int64_t params_len, double lr, double momentum, double dampening,
                      double weight_decay, bool nesterov, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    *out = handles().insert(
        core::make_sgd(tensor_list(params, params_len), {lr, momentum, dampening, weight_decay, nesterov}));
  });
}

int32_t optim_step(int64_t optimizer) {
  return guarded([&] {
    const auto held = handles().get<OptimizerPointer>(optimizer);
    core::explained("optim_step", core::kNoOperands, [&] { (*held)->step(); });
  });
}

int32_t optim_zero_grad(int64_t optimizer, bool set_to_none) {
  return guarded([&] { (*handles().get<OptimizerPointer>(optimizer))->zero_grad(set_to_none); });
}

int32_t optim_set_lr(int64_t optimizer, double lr) {
  return guarded([&] { (*handles().get<OptimizerPointer>(optimizer))->set_lr(lr); });
}

int32_t optim_lr(int64_t optimizer, double* out) {
  return guarded([&] {
    require(out, "out");
    *out = (*handles().get<OptimizerPointer>(optimizer))->lr();
  });
}

}  // namespace body
}  // namespace simple_torch::abi
