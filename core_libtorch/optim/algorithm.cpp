#include "core_libtorch/optim/algorithm.h"

#include <ATen/Context.h>
#include <ATen/ScalarOps.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_neg.h>
#include <ATen/ops/full.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/DefaultDtype.h>
#include <c10/util/StringUtil.h>

#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"

namespace simple_torch::core::optim {
namespace {

double count_step(const at::Tensor& step) {
  if (step.is_cpu() && step.scalar_type() == at::kFloat) {
    return *step.mutable_data_ptr<float>() += 1;
  }
  return step.add_(1).item<double>();
}

std::string option_title(const char* name) {
  return std::string("Invalid ") + (std::string_view(name) == "eps" ? "epsilon" : name) + " value";
}

ErrorFields shape_fields(std::string expected, std::string got) {
  ErrorFields fields;
  fields.op = "step";
  fields.expected = std::move(expected);
  fields.got = std::move(got);
  return fields;
}

}  // namespace

Tensors Batch::state_tensors(std::string_view name) const {
  Tensors tensors;
  tensors.reserve(states.size());
  for (const NamedValues* state : states) {
    tensors.push_back(state->tensor(name));
  }
  return tensors;
}

void Batch::require_shapes(const Tensors& tensors, const char* name) const {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const at::IntArrayRef expected = params[i].sizes();
    const at::IntArrayRef got = tensors[i].sizes();
    if (got != expected) {
      const auto text = [](at::IntArrayRef sizes) { return c10::str("[", c10::Join(", ", sizes), "]"); };
      throw Error(ErrorKind::kShapeMismatch,
                  std::string(name) + " must have the parameter's shape " + text(expected) + ", got " +
                      text(got) + "; the state belongs to another parameter, or the parameter was changed",
                  shape_fields(text(expected), text(got)));
    }
  }
}

std::vector<double> Batch::count_steps() const {
  std::vector<double> counts;
  counts.reserve(states.size());
  for (const NamedValues* state : states) {
    counts.push_back(count_step(state->tensor("step")));
  }
  return counts;
}

Tensors Batch::signed_grads() const { return options.flag("maximize") ? at::_foreach_neg(grads) : grads; }

Tensors Batch::decayed_grads() const { return decay(params, signed_grads()); }

Tensors Batch::decayed_real_grads() const { return decay(as_real(params), as_real(signed_grads())); }

Tensors Batch::decay(const Tensors& decayed_params, Tensors decayed) const {
  const double weight_decay = options.number("weight_decay");
  if (weight_decay == 0) {
    return decayed;
  }
  if (options.find("decoupled_weight_decay") != nullptr && options.flag("decoupled_weight_decay")) {
    scale_(decayed_params, Rate(options).times(weight_decay).left());
    return decayed;
  }
  return at::_foreach_add(decayed, decayed_params, weight_decay);
}

void scale_(const at::Tensor& tensor, double factor) {
  tensor.mul_(at::native::wrapped_scalar_tensor(factor));
}

void scale_(const Tensors& tensors, double factor) {
  if (!tensors.empty() && !tensors.front().is_cpu()) {
    at::_foreach_mul_(tensors, factor);
    return;
  }
  for (const at::Tensor& tensor : tensors) {
    scale_(tensor, factor);
  }
}

void scale_(const Tensors& tensors, const Scalars& factors) {
  if (!tensors.empty() && !tensors.front().is_cpu()) {
    at::_foreach_mul_(tensors, factors);
    return;
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    scale_(tensors[i], factors[i].toDouble());
  }
}

void move_moments(const Tensors& means, const Tensors& squares, const Tensors& grads,
                  const std::vector<double>& betas) {
  at::_foreach_lerp_(means, grads, 1 - betas[0]);
  scale_(squares, betas[1]);
  at::_foreach_addcmul_(squares, grads, grads, 1 - betas[1]);
}

Tensors as_real(Tensors tensors) {
  for (at::Tensor& tensor : tensors) {
    if (tensor.is_complex()) {
      tensor = at::view_as_real(tensor);
    }
  }
  return tensors;
}

Rate::Rate(const NamedValues& options, std::string_view name) : value_(options.number(name)) {
  const c10::IValue& rate = options.at(name);
  is_single_ = rate.isTensor() && rate.toTensor().scalar_type() == at::kFloat;
}

Rate Rate::with(double value) const {
  Rate other = *this;
  other.value_ = rounded(value);
  return other;
}

void Algorithm::check_grad(const at::Tensor& param, const NamedValues& /*options*/) const {
  const bool is_sparse = param.grad().is_sparse();
  if (is_sparse && sparse_ == Sparse::kUnsupported) {
    throw_invalid_argument(name_ + " does not support sparse gradients");
  }
  if (!is_sparse && sparse_ == Sparse::kRequired) {
    throw_invalid_argument(name_ + " does not support dense gradients, please consider Adam instead");
  }
}

at::Tensor counter(const at::Tensor& param, const NamedValues& options, double value) {
  const bool is_fused = options.flag("fused");
  const bool is_double = !is_fused && c10::get_default_dtype_as_scalartype() == at::kDouble;
  const at::Device place = is_fused || options.flag("capturable") ? param.device() : at::Device(at::kCPU);
  return at::full({}, value, at::TensorOptions().dtype(is_double ? at::kDouble : at::kFloat).device(place));
}

at::Tensor zeros_for(const at::Tensor& param) {
  return at::zeros_like(param, {}, at::MemoryFormat::Preserve);
}

void require_option(bool holds, const char* what, const c10::IValue& value) {
  if (!holds) {
    throw_invalid_argument(std::string(what) + ": " + repr(value));
  }
}

void require_rate(const NamedValues& options) {
  require_option(options.number("lr") >= 0, "Invalid learning rate", options.at("lr"));
}

void require_not_negative(const NamedValues& options, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    require_option(options.number(name) >= 0, option_title(name).c_str(), options.at(name));
  }
}

void require_betas(const NamedValues& options) {
  const std::vector<double> betas = options.numbers("betas", 2);
  for (size_t i = 0; i < betas.size(); ++i) {
    const std::string what = "Invalid beta parameter at index " + std::to_string(i);
    require_option(betas[i] >= 0 && betas[i] < 1, what.c_str(), options.at("betas").toListRef()[i]);
  }
}

void require_of_adams(const NamedValues& options) {
  require_rate(options);
  require_not_negative(options, {"eps"});
  require_betas(options);
  require_not_negative(options, {"weight_decay"});
}

void require_one_kernel(const NamedValues& options) {
  if (options.flag("fused") && options.flag("differentiable")) {
    throw_invalid_argument("`fused` does not support `differentiable`");
  }
  if (options.flag("fused") && options.flag("foreach")) {
    throw_invalid_argument("`fused` and `foreach` cannot be `True` together.");
  }
}

void require_fusable(const at::Tensor& param, const NamedValues& options) {
  if (options.flag("fused") && !param.is_floating_point()) {
    throw_invalid_argument(
        "`fused=True` requires all the params to be floating point Tensors of supported devices: "
        "['cpu', 'cuda'] but torch." +
        dtype_name(param.scalar_type()) + " and " + c10::DeviceTypeName(param.device().type(), true));
  }
}

}  // namespace simple_torch::core::optim
