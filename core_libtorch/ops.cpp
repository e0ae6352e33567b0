// Operations that need more than one LibTorch call.
#include "core_libtorch/ops.h"

#include <ATen/Context.h>
#include <ATen/ScalarOps.h>
#include <ATen/core/Reduction.h>
#include <ATen/ops/binary_cross_entropy.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/index.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <sstream>

namespace simple_torch::core {
namespace {

template <class T>
std::string text_of_value(const T& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

/// The error for two values that must be equal; `what` is the message before them.
template <class T>
Error mismatch(ErrorKind kind, const char* op, const char* what, const T& expected, const T& got) {
  ErrorFields fields;
  fields.op = op;
  fields.expected = text_of_value(expected);
  fields.got = text_of_value(got);
  return {kind, std::string(what) + ": expected " + fields.expected + ", got " + fields.got, fields};
}

void require_same_shape(const char* op, const at::Tensor& input, const at::Tensor& target) {
  if (input.sizes() != target.sizes()) {
    throw mismatch(ErrorKind::kShapeMismatch, op,
                   (std::string(op) + ": input and target must have the same shape").c_str(), input.sizes(),
                   target.sizes());
  }
}

}  // namespace

double to_double(const at::Tensor& tensor) { return tensor.item().toDouble(); }

int64_t to_int(const at::Tensor& tensor) {
  const c10::Scalar value = tensor.item();
  if (value.isFloatingPoint() && value.toDouble() != std::trunc(value.toDouble())) {
    throw Error(ErrorKind::kInvalidArgument,
                "to_int: value must be an integer, got " + std::to_string(value.toDouble()));
  }
  return value.toLong();
}

int64_t copy_shape(const at::Tensor& tensor, void* address, int64_t capacity) {
  if (address == nullptr) {
    throw Error(ErrorKind::kInvalidArgument, "copy_shape: the address must not be NULL");
  }
  const at::IntArrayRef sizes = tensor.sizes();
  if (static_cast<int64_t>(sizes.size()) <= capacity) {
    std::copy(sizes.begin(), sizes.end(), static_cast<int64_t*>(address));
  }
  return static_cast<int64_t>(sizes.size());
}

void* data_address(const at::Tensor& tensor) { return const_cast<void*>(tensor.const_data_ptr()); }

c10::Scalar whole_or_float(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: below it a whole double is exactly one integer
  if (std::trunc(value) == value && std::abs(value) < kExact) {
    return static_cast<int64_t>(value);
  }
  return value;
}

at::Tensor clamp(const at::Tensor& tensor, double low, double high) {
  const auto bound = [](double value) {
    return std::isnan(value) ? std::nullopt : std::optional<c10::Scalar>(whole_or_float(value));
  };
  if (std::isnan(low) && std::isnan(high)) {
    throw Error(ErrorKind::kInvalidArgument, "torch.clamp: At least one of 'min' or 'max' must not be None");
  }
  return at::clamp(tensor, bound(low), bound(high));
}

at::Tensor index(const at::Tensor& tensor, const at::Tensor& indices) {
  const c10::List<std::optional<at::Tensor>> list({std::optional<at::Tensor>(indices)});
  return at::index(tensor, list);
}

at::Tensor normalize(const at::Tensor& tensor, double p, int64_t dim, double eps) {
  const at::Tensor norm = at::linalg_vector_norm(tensor, p, dim, true);
  return tensor.div(norm.clamp_min(eps).expand_as(tensor));
}

int64_t reduction(int64_t code) {
  if (code < at::Reduction::None || code >= at::Reduction::END) {
    throw Error(ErrorKind::kInvalidArgument,
                "reduction must be 0 (none), 1 (mean) or 2 (sum), got " + std::to_string(code));
  }
  return code;
}

at::Tensor binary_cross_entropy(const at::Tensor& input, const at::Tensor& target, int64_t reduction) {
  require_same_shape("binary_cross_entropy", input, target);
  return at::binary_cross_entropy(input, target, {}, reduction);
}

at::Tensor binary_cross_entropy_with_logits(const at::Tensor& input, const at::Tensor& target,
                                            int64_t reduction) {
  require_same_shape("binary_cross_entropy_with_logits", input, target);
  return at::binary_cross_entropy_with_logits(input, target, {}, {}, reduction);
}

void set_requires_grad(const at::Tensor& tensor, bool requires_grad) {
  if (!requires_grad && !tensor.is_leaf()) {
    throw Error(ErrorKind::kInvalidArgument,
                "you can only change requires_grad flags of leaf variables. If you want to use a computed "
                "variable in a "
                "subgraph that doesn't require differentiation use var_no_grad = var.detach().");
  }
  tensor.set_requires_grad(requires_grad);
}

void set_grad(const at::Tensor& tensor, const std::optional<at::Tensor>& gradient) {
  if (gradient) {
    if (gradient->is_same(tensor)) {
      throw Error(ErrorKind::kInvalidArgument, "can't assign Variable as its own grad");
    }
    if (gradient->sizes() != tensor.sizes()) {
      throw mismatch(ErrorKind::kShapeMismatch, "set_grad", "assigned grad has data of a different size",
                     tensor.sizes(), gradient->sizes());
    }
    if (gradient->scalar_type() != tensor.scalar_type()) {
      throw mismatch(ErrorKind::kDtypeMismatch, "set_grad", "assigned grad has data of a different type",
                     dtype_name(tensor.scalar_type()), dtype_name(gradient->scalar_type()));
    }
    if (gradient->device() != tensor.device()) {
      throw mismatch(ErrorKind::kDeviceMismatch, "set_grad",
                     "assigned grad has data located on a different device", tensor.device(),
                     gradient->device());
    }
  }
  tensor.mutable_grad() = gradient.value_or(at::Tensor());
}

void zero_grad(const at::Tensor& tensor) {
  at::Tensor& grad = tensor.mutable_grad();
  if (!grad.defined()) {
    return;
  }
  if (grad.grad_fn() != nullptr) {
    grad.detach_();
  } else {
    grad.set_requires_grad(false);
  }
  grad.zero_();
}

bool grad_enabled() { return c10::GradMode::is_enabled(); }

bool set_grad_enabled(bool enabled) {
  const bool before = c10::GradMode::is_enabled();
  c10::GradMode::set_enabled(enabled);
  return before;
}

}  // namespace simple_torch::core
