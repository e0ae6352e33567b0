// Operations that need more than one LibTorch call, and the headers that callers of core need.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/ScalarOps.h>
#include <ATen/core/Tensor.h>
#include <c10/util/OptionalArrayRef.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core_libtorch/crash_guards.h"
#include "core_libtorch/dtypes.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/text.h"

namespace simple_torch::core {

void manual_seed(int64_t seed);

/// Random numbers from this thread's own generator (thread_generator.h), else from the default one.
at::Tensor rand(at::IntArrayRef sizes);
at::Tensor randn(at::IntArrayRef sizes);
at::Tensor rand_like(const at::Tensor& tensor);
at::Tensor randn_like(const at::Tensor& tensor);

/// Multiplies in the order of einsum_path().
at::Tensor einsum(std::string_view equation, at::TensorList operands);

/// The only element, converted. LibTorch rejects complex numbers and integers out of range.
double to_double(const at::Tensor& tensor);
int64_t to_int(const at::Tensor& tensor);

/// The address of the first element, also of a read-only tensor.
void* data_address(const at::Tensor& tensor);
/// Writes the sizes to `capacity` int64 at `address` if they suffice; returns the number of dimensions.
/// Throws Error(kInvalidArgument) if the address is null.
int64_t copy_shape(const at::Tensor& tensor, void* address, int64_t capacity);

/// An integral value as an integer, so that an integer tensor can add it in place.
c10::Scalar whole_or_float(double value);

/// Clamps to the bounds; NaN is no bound. Throws Error(kInvalidArgument) if both are NaN.
at::Tensor clamp(const at::Tensor& tensor, double low, double high);

/// tensor[indices]: a bool tensor is a mask, an integer tensor indexes the first dimension.
at::Tensor index(const at::Tensor& tensor, const at::Tensor& indices);

/// tensor / max(p-norm along dim, eps).
at::Tensor normalize(const at::Tensor& tensor, double p, int64_t dim, double eps);

/// at::Reduction's number: 0 none, 1 mean, 2 sum. Throws Error(kInvalidArgument) for another.
int64_t reduction(int64_t code);

// As in torch.nn.functional, input and target must have the same shape. LibTorch's own message is less clear.
at::Tensor binary_cross_entropy(const at::Tensor& input, const at::Tensor& target, int64_t reduction);
at::Tensor binary_cross_entropy_with_logits(const at::Tensor& input, const at::Tensor& target,
                                            int64_t reduction);

void set_requires_grad(const at::Tensor& tensor, bool requires_grad);

/// Throws Error with kShapeMismatch, kDtypeMismatch or kDeviceMismatch if the gradient differs
/// from the tensor.
void set_grad(const at::Tensor& tensor, const std::optional<at::Tensor>& gradient);

/// Detaches the gradient and fills it with zeros. Does nothing without a gradient.
void zero_grad(const at::Tensor& tensor);

bool grad_enabled();

/// Returns the previous value.
bool set_grad_enabled(bool enabled);

}  // namespace simple_torch::core
