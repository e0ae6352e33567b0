// Bodies of optimizers.
#include "core_libtorch/optim/optimizer.h"

#include <memory>

#include "abi/backend/guarded.h"
#include "abi/backend/operator_values.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/optim/algorithms.h"

namespace simple_torch::abi {

using OptimizerPointer = std::unique_ptr<core::optim::Optimizer>;
using core::optim::NamedValues;

template <>
struct HandleKindOf<OptimizerPointer> {
  static constexpr HandleKind value = HandleKind::kOptimizer;
};

namespace {

OptimizerPointer make_optimizer(const std::string& algorithm, const NamedValues& options) {
  return std::make_unique<core::optim::Optimizer>(core::optim::algorithm_of(algorithm), options);
}

/// A handle of an optimizer with one parameter group, which must not be empty.
int64_t new_with_group(const std::string& algorithm, const NamedValues& options, const int64_t* params,
                       int64_t count) {
  OptimizerPointer optimizer = make_optimizer(algorithm, options);
  if (count == 0) {
    core::optim::throw_invalid_argument("optimizer got an empty parameter list");
  }
  optimizer->add_group(tensor_list(params, count), {});
  return handles().insert(std::move(optimizer));
}

NamedValues named_values(const char* kinds, const SplArray* values, const char* const* names,
                         int64_t names_len) {
  const size_t count = count_of_values(kinds, values);
  const auto list = list_argument(names, names_len, "names");
  if (list.size() != count) {
    core::optim::throw_invalid_argument(std::to_string(list.size()) + " names for " + std::to_string(count) +
                                        " values");
  }
  NamedValues result;
  for (size_t i = 0; i < count; ++i) {
    require(list[i], "a name");
    result.set(list[i], value_by_letter(kinds[i], items_of(values)[i]));
  }
  return result;
}

SplArray* values_array(const std::vector<NamedValues::Item>& items) {
  std::string names;
  std::vector<c10::IValue> values;
  for (const auto& [name, value] : items) {
    names += (values.empty() ? "" : ",") + name;
    values.push_back(value);
  }
  return Results(values).take_array(names);
}

}  // namespace

namespace body {

int32_t optim_adam_new(const int64_t* params, int64_t params_len, double lr, double beta1, double beta2,
                       double eps, double weight_decay, bool amsgrad, bool decoupled, int64_t* out) {
  return guarded_result(out, [&] {
    return new_with_group(decoupled ? "AdamW" : "Adam",
                          {{"lr", lr},
                           {"betas", core::optim::list_of({beta1, beta2})},
                           {"eps", eps},
                           {"weight_decay", weight_decay},
                           {"amsgrad", amsgrad},
                           {"fused", true}},
                          params, params_len);
  });
}

int32_t optim_sgd_new(const int64_t* params, int64_t params_len, double lr, double momentum, double dampening,
                      double weight_decay, bool nesterov, int64_t* out) {
  return guarded_result(out, [&] {
    return new_with_group("SGD",
                          {{"lr", lr},
                           {"momentum", momentum},
                           {"dampening", dampening},
                           {"weight_decay", weight_decay},
                           {"nesterov", nesterov},
                           {"fused", true}},
                          params, params_len);
  });
}

int32_t optim_new(const char* algorithm, const char* kinds, const SplArray* values, const char* const* names,
                  int64_t names_len, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(algorithm, "algorithm");
    *out = handles().insert(make_optimizer(algorithm, named_values(kinds, values, names, names_len)));
  });
}

int32_t optim_add_group(int64_t optimizer, const int64_t* params, int64_t params_len, const char* kinds,
                        const SplArray* values, const char* const* names, int64_t names_len) {
  return guarded([&] {
    const auto held = handles().get<OptimizerPointer>(optimizer);
    (*held)->add_group(tensor_list(params, params_len), named_values(kinds, values, names, names_len));
  });
}

int32_t optim_group_count(int64_t optimizer, int64_t* out) {
  return guarded_result(out, [&] {
    return static_cast<int64_t>((*handles().get<OptimizerPointer>(optimizer))->group_count());
  });
}

int32_t optim_group_params(int64_t optimizer, int64_t group, int64_t** out, int64_t* out_len) {
  return guarded([&] {
    require(out, "out");
    require(out_len, "out_len");
    store_handles((*handles().get<OptimizerPointer>(optimizer))->group(group).params, out, out_len);
  });
}

int32_t optim_options(int64_t optimizer, int64_t group, SplArray** out) {
  return guarded_result(out, [&] {
    return values_array((*handles().get<OptimizerPointer>(optimizer))->group(group).options.items());
  });
}

int32_t optim_option(int64_t optimizer, int64_t group, const char* name, SplArray** out) {
  return guarded([&] {
    require(out, "out");
    require(name, "name");
    const auto held = handles().get<OptimizerPointer>(optimizer);
    const c10::IValue* value = (*held)->group(group).options.find(name);
    *out = values_array(value == nullptr ? std::vector<NamedValues::Item>()
                                         : std::vector<NamedValues::Item>{{name, *value}});
  });
}

int32_t optim_set_option(int64_t optimizer, int64_t group, const char* name, const char* kinds,
                         const SplArray* values) {
  return guarded([&] {
    require(name, "name");
    const auto held = handles().get<OptimizerPointer>(optimizer);
    const NamedValues one = named_values(kinds, values, &name, 1);
    (*held)->group(group).options.set(name, one.at(name));
  });
}

int32_t optim_state(int64_t optimizer, int64_t param, SplArray** out) {
  return guarded_result(
      out, [&] { return values_array((*handles().get<OptimizerPointer>(optimizer))->state(param).items()); });
}

int32_t optim_load_state(int64_t optimizer, int64_t param, const char* kinds, const SplArray* values,
                         const char* const* names, int64_t names_len) {
  return guarded([&] {
    const auto held = handles().get<OptimizerPointer>(optimizer);
    const NamedValues loaded = named_values(kinds, values, names, names_len);
    (*held)->state(param).clear();
    for (const auto& [name, value] : loaded.items()) {
      (*held)->load_state(param, name, value);
    }
  });
}

int32_t optim_step(int64_t optimizer) {
  return guarded([&] {
    const auto held = handles().get<OptimizerPointer>(optimizer);
    core::with_error_context("optim_step", core::kNoOperands, [&] { (*held)->step(); });
  });
}

int32_t optim_zero_grad(int64_t optimizer, bool set_to_none) {
  return guarded([&] { (*handles().get<OptimizerPointer>(optimizer))->zero_grad(set_to_none); });
}

int32_t optim_set_lr(int64_t optimizer, double lr) {
  return guarded([&] {
    const auto held = handles().get<OptimizerPointer>(optimizer);
    const NamedValues options{{"lr", lr}};
    core::optim::require_rate(options);
    for (size_t i = 0; i < (*held)->group_count(); ++i) {
      (*held)->group(static_cast<int64_t>(i)).options.set("lr", lr);
    }
  });
}

int32_t optim_lr(int64_t optimizer, double* out) {
  return guarded_result(
      out, [&] { return (*handles().get<OptimizerPointer>(optimizer))->group(0).options.number("lr"); });
}

}  // namespace body
}  // namespace simple_torch::abi
