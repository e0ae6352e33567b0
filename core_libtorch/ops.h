// The operations that need more than one call of LibTorch, and the headers that callers of core need.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/ScalarOps.h>
#include <ATen/core/Tensor.h>
#include <c10/util/OptionalArrayRef.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core_libtorch/crash_guards.h"
#include "core_libtorch/dtypes.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/text.h"

namespace simple_torch::core {

void manual_seed(int64_t seed);

/// Random numbers of this thread's own generator if it has one (thread_generator.h), else of the default one.
at::Tensor rand(at::IntArrayRef sizes);
at::Tensor randn(at::IntArrayRef sizes);
at::Tensor rand_like(const at::Tensor& tensor);
at::Tensor randn_like(const at::Tensor& tensor);

/// The one element, converted. Complex numbers and integers that do not fit are refused by LibTorch.
double to_double(const at::Tensor& tensor);
int64_t to_int(const at::Tensor& tensor);

/// The address of the first element, also of a read-only tensor.
void* data_address(const at::Tensor& tensor);

/// A whole number as an integer, so that it may be added to an integer tensor in place.
c10::Scalar whole_or_float(double value);

/// Between two bounds, of which NaN is none. Throws Error(kInvalidArgument) when neither is one.
at::Tensor clamp(const at::Tensor& tensor, double low, double high);

/// tensor[indices]: a bool tensor is a mask, an integer tensor names parts of the first dimension.
at::Tensor index(const at::Tensor& tensor, const at::Tensor& indices);

/// tensor / max(p-norm along dim, eps).
at::Tensor normalize(const at::Tensor& tensor, double p, int64_t dim, double eps);

/// at::Reduction's number of 0 none, 1 mean, 2 sum. Throws Error(kInvalidArgument) for another.
int64_t reduction(int64_t code);

// As in torch.nn.functional, input and target must have one shape; LibTorch alone says so less clearly.
at::Tensor binary_cross_entropy(const at::Tensor& input, const at::Tensor& target, int64_t reduction);
at::Tensor binary_cross_entropy_with_logits(const at::Tensor& input, const at::Tensor& target,
                                            int64_t reduction);

void set_requires_grad(const at::Tensor& tensor, bool requires_grad);

/// Throws Error with kShapeMismatch, kDtypeMismatch or kDeviceMismatch when the gradient is not like the
/// tensor.
void set_grad(const at::Tensor& tensor, const std::optional<at::Tensor>& gradient);

/// Fills the gradient with zeros, cut off from any graph; nothing without one.
void zero_grad(const at::Tensor& tensor);

bool grad_enabled();

/// What it was before.
bool set_grad_enabled(bool enabled);

}  // namespace simple_torch::core
