#include "core_libtorch/optim/optimizer.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "core_libtorch/ops.h"

namespace simple_torch::core::optim {
namespace {

std::string no_such(const char* what, int64_t index, size_t count) {
  return std::string("there is no ") + what + " " + std::to_string(index) + "; there are " +
         std::to_string(count);
}

NamedValues merged(NamedValues base, const NamedValues& over) {
  for (const auto& [name, value] : over.items()) {
    base.set(name, value);
  }
  return base;
}

c10::IValue fitted(const c10::IValue& value, const at::Tensor& owner, bool counts,
                   const NamedValues& options) {
  if (value.isTensor() && counts) {
    const bool is_on_device = options.flag("fused") || options.flag("capturable");
    return is_on_device ? value.toTensor().to(owner.device(), at::kFloat) : value.toTensor();
  }
  if (value.isTensor()) {
    return owner.is_floating_point() ? value.toTensor().to(owner.device(), owner.scalar_type())
                                     : value.toTensor().to(owner.device());
  }
  if (!value.isList()) {
    return value;
  }
  c10::impl::GenericList list(c10::AnyType::get());
  for (const c10::IValue& item : value.toListRef()) {
    list.push_back(fitted(item, owner, false, options));
  }
  return list;
}

}  // namespace

Optimizer::Optimizer(const Algorithm& algorithm, const NamedValues& options) : algorithm_(algorithm) {
  for (const auto& [name, value] : options.items()) {
    if (algorithm.defaults().find(name) == nullptr) {
      throw_invalid_argument(algorithm.name() + ".__init__() got an unexpected keyword argument '" + name +
                             "'");
    }
  }
  defaults_ = merged(algorithm.defaults(), options);
  if (defaults_.flag("differentiable")) {
    throw Error(ErrorKind::kNotImplemented,
                "differentiable=True is not supported: optimizer steps are not recorded by autograd");
  }
  algorithm_.check(defaults_);
}

void Optimizer::add_group(Tensors params, const NamedValues& options) {
  check_params(params);
  Group group{std::move(params), merged(defaults_, options), {}};
  algorithm_.check(group.options);
  group.states.resize(group.params.size());
  if (algorithm_.starts_early()) {
    for (size_t i = 0; i < group.params.size(); ++i) {
      algorithm_.start(group.states[i], group.params[i], group.options);
    }
  }
  groups_.push_back(std::move(group));
}

void Optimizer::check_params(const Tensors& params) const {
  std::unordered_set<const void*> seen;
  for (const at::Tensor& param : params) {
    if (!param.is_leaf() && !param.retains_grad()) {
      throw_invalid_argument("can't optimize a non-leaf Tensor");
    }
    if (!param.is_floating_point() && !param.is_complex()) {
      throw_invalid_argument(
          "optimizer can only optimize floating point and complex Tensors, but one of the params is " +
          dtype_name(param.scalar_type()));
    }
    if (!seen.insert(param.unsafeGetTensorImpl()).second) {
      throw_invalid_argument("optimizer contains a parameter group with duplicate parameters");
    }
    algorithm_.check_param(param);
  }
  for (const Group& group : groups_) {
    for (const at::Tensor& param : group.params) {
      if (seen.count(param.unsafeGetTensorImpl()) != 0) {
        throw_invalid_argument("some parameters appear in more than one parameter group");
      }
    }
  }
}

std::vector<Batch> Optimizer::batches_of(Group& group) const {
  std::vector<Batch> batches;
  for (size_t i = 0; i < group.params.size(); ++i) {
    const at::Tensor& param = group.params[i];
    if (!param.grad().defined()) {
      continue;
    }
    algorithm_.check_grad(param, group.options);
    if (param.is_cpu() && group.options.flag("capturable")) {
      throw_invalid_argument(
          "If capturable=True, params and state_steps must be on supported devices: ['cuda'].");
    }
    if (group.states[i].empty()) {
      algorithm_.start(group.states[i], param, group.options);
    }
    auto fits = [&](const Batch& batch) {
      const at::Tensor& other = batch.params.front();
      return other.device() == param.device() && other.scalar_type() == param.scalar_type();
    };
    auto batch = std::find_if(batches.begin(), batches.end(), fits);
    if (batch == batches.end()) {
      batches.push_back(Batch{group.options, {}, {}, {}});
      batch = std::prev(batches.end());
    }
    batch->params.push_back(param);
    batch->grads.push_back(param.grad());
    batch->states.push_back(&group.states[i]);
  }
  return batches;
}

void Optimizer::step() {
  const c10::AutoGradMode no_grad(false);
  // Autograd's layers would only bump the version at each operation; once for each parameter is enough.
  const at::AutoDispatchBelowADInplaceOrView below;
  for (Group& group : groups_) {
    for (Batch& batch : batches_of(group)) {
      const Tensors params = batch.params;
      algorithm_.step(batch);
      for (const at::Tensor& param : params) {
        if (!param.is_inference()) {
          param.unsafeGetTensorImpl()->bump_version();
        }
      }
    }
  }
}

void Optimizer::zero_grad(bool set_to_none) const {
  for (const Group& group : groups_) {
    for (const at::Tensor& param : group.params) {
      if (set_to_none) {
        param.mutable_grad().reset();
      } else {
        core::zero_grad(param);
      }
    }
  }
}

Group& Optimizer::group(int64_t index) {
  if (index < 0 || static_cast<size_t>(index) >= groups_.size()) {
    throw Error(ErrorKind::kIndexOutOfRange, no_such("parameter group", index, groups_.size()));
  }
  return groups_[static_cast<size_t>(index)];
}

std::pair<Group*, size_t> Optimizer::position_of(int64_t param) {
  size_t before = 0;
  for (Group& group : groups_) {
    if (param >= 0 && static_cast<size_t>(param) < before + group.params.size()) {
      return {&group, static_cast<size_t>(param) - before};
    }
    before += group.params.size();
  }
  throw Error(ErrorKind::kIndexOutOfRange, no_such("parameter", param, before));
}

NamedValues& Optimizer::state(int64_t param) {
  const auto [group, position] = position_of(param);
  return group->states[position];
}

void Optimizer::load_state(int64_t param, const std::string& name, const c10::IValue& value) {
  const auto [group, position] = position_of(param);
  const at::Tensor& owner = group->params[position];
  c10::IValue loaded = fitted(value, owner, name == "step", group->options);
  if ((loaded.isDouble() || loaded.isInt()) && algorithm_.is_counter(name)) {
    loaded = counter(owner, group->options, number_in(name, loaded));
  }
  group->states[position].set(name, loaded);
}

}  // namespace simple_torch::core::optim
