// Bodies that copy numbers into and out of tensors.
#include <ATen/ops/empty.h>
#include <ATen/ops/lift_fresh.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "abi/backend/guarded.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/autograd/transforms.h"
#include "core_libtorch/jit/tracing.h"
#include "core_libtorch/ops.h"

namespace simple_torch::abi::body {
namespace {

/// A CPU tensor with a copy of the values. Throws Error(kShapeMismatch) if their number is not that of the
/// shape.
template <class T, class Element = T>
at::Tensor tensor_from(at::ArrayRef<T> values, at::IntArrayRef dims, at::ScalarType dtype) {
  at::Tensor tensor = core::with_error_context("from_data", core::kNoOperands, [&] {
    const core::OutsideTransforms memory;
    return at::empty(dims, at::TensorOptions().dtype(dtype));
  });
  if (tensor.numel() != static_cast<int64_t>(values.size())) {
    ErrorFields fields;
    fields.op = "from_data";
    fields.expected = std::to_string(tensor.numel());
    fields.got = std::to_string(values.size());
    throw Error(ErrorKind::kShapeMismatch,
                "the shape has " + fields.expected + " elements, got " + fields.got + " values", fields);
  }
  std::transform(values.begin(), values.end(), tensor.mutable_data_ptr<Element>(),
                 [](T value) { return static_cast<Element>(value); });
  return core::in_transforms() ? at::lift_fresh(tensor) : tensor;
}

/// All elements in row-major order, on the CPU and with this dtype.
at::Tensor flat_copy(const at::Tensor& tensor, at::ScalarType dtype) {
  return core::with_error_context("to_list", {&tensor},
                                  [&] { return tensor.detach().to(at::kCPU, dtype).contiguous(); });
}

/// A float64 tensor with a copy of the doubles at `data`.
at::Tensor tensor_at(const void* data, at::IntArrayRef sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    if (size <= 0 || __builtin_mul_overflow(count, size, &count)) {
      throw Error(
          ErrorKind::kInvalidArgument,
          "sizes must be positive and their product must fit into int64, got " + std::to_string(size));
    }
  }
  return tensor_from(list_argument(static_cast<const double*>(data), count, "data"), sizes, at::kDouble);
}

template <class T>
void copy_to(const at::Tensor& tensor, void* data, at::ScalarType dtype) {
  const at::Tensor flat = flat_copy(tensor, dtype);
  if (flat.numel() > 0) {
    require(data, "data");
    std::memcpy(data, flat.const_data_ptr<T>(), static_cast<size_t>(flat.numel()) * sizeof(T));
  }
}

}  // namespace

int32_t from_data(const double* data, int64_t data_len, const int64_t* dims, int64_t dims_len, int64_t* out) {
  return guarded_result(out, [&] {
    return new_handle(tensor_from(list_argument(data, data_len, "data"),
                                  dims_argument(dims, dims_len, "dims"), at::kDouble));
  });
}

int32_t from_i64_data(const int64_t* data, int64_t data_len, const int64_t* dims, int64_t dims_len,
                      int64_t* out) {
  return guarded_result(out, [&] {
    return new_handle(
        tensor_from(list_argument(data, data_len, "data"), dims_argument(dims, dims_len, "dims"), at::kLong));
  });
}

int32_t from_data_as(const double* data, int64_t data_len, const int64_t* dims, int64_t dims_len,
                     int64_t dtype, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    const at::ScalarType target = core::dtype_of_code(dtype);
    const auto values = list_argument(data, data_len, "data");
    const auto sizes = dims_argument(dims, dims_len, "dims");
    if (target == at::kFloat) {  // the usual default dtype, without a second tensor
      *out = new_handle(tensor_from<double, float>(values, sizes, target));
      return;
    }
    const at::Tensor doubles = tensor_from(values, sizes, at::kDouble);
    *out = new_handle(core::with_error_context("from_data", {&doubles}, [&] { return doubles.to(target); }));
  });
}

int32_t from_doubles(void* data, int64_t data_len, void* dims, int32_t ndim, int32_t dtype_code,
                     int32_t device_code, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    if (dtype_code != 0 && dtype_code != 1) {
      throw Error(ErrorKind::kInvalidArgument,
                  "dtype_code must be 0 (float32) or 1 (float64), got " + std::to_string(dtype_code));
    }
    const at::ScalarType target = dtype_code == 1 ? at::kDouble : at::kFloat;
    const c10::Device device = core::device_of_code(int64_t{device_code} - 1);
    const at::Tensor doubles =
        tensor_from(list_argument(static_cast<const double*>(data), data_len, "data"),
                    dims_argument(static_cast<const int64_t*>(dims), ndim, "dims"), at::kDouble);
    *out = new_handle(
        core::with_error_context("from_data", {&doubles}, [&] { return doubles.to(device, target); }));
  });
}

int32_t from_bits_1d(void* data, int64_t count, int64_t* out) {
  return guarded_result(out, [&] { return new_handle(tensor_at(data, {count})); });
}

int32_t from_bits_2d(void* data, int64_t rows, int64_t cols, int64_t* out) {
  return guarded_result(out, [&] { return new_handle(tensor_at(data, {rows, cols})); });
}

int32_t copy_bits(int64_t a, void* data, int64_t count, bool* out) {
  return guarded([&] {
    core::reject_while_tracing("copy_bits");
    require(out, "out");
    const auto tensor = tensor_argument(a);
    if (count != tensor->numel()) {
      throw Error(ErrorKind::kInvalidArgument, "the tensor has " + std::to_string(tensor->numel()) +
                                                   " elements, got count " + std::to_string(count));
    }
    copy_to<double>(*tensor, data, at::kDouble);
    *out = true;
  });
}

int32_t copy_data_to_cpu(int64_t a, void* data, int64_t count, int64_t* out) {
  return guarded([&] {
    core::reject_while_tracing("copy_data_to_cpu");
    require(out, "out");
    const auto tensor = tensor_argument(a);
    if (count < tensor->numel()) {
      throw Error(ErrorKind::kInvalidArgument, "the tensor has " + std::to_string(tensor->numel()) +
                                                   " elements, got count " + std::to_string(count));
    }
    copy_to<float>(*tensor, data, at::kFloat);
    *out = tensor->numel();
  });
}

int32_t binary_op(int64_t a, int64_t b, int64_t op, int64_t* out) {
  using Operation = int32_t(int64_t, int64_t, int64_t*);
  constexpr Operation* kOperations[] = {add, sub, mul, div};
  if (op < 0 || op >= static_cast<int64_t>(std::size(kOperations))) {
    return guarded([&] {
      throw Error(ErrorKind::kInvalidArgument,
                  "op must be 0 (add), 1 (sub), 2 (mul) or 3 (div), got " + std::to_string(op));
    });
  }
  return kOperations[op](a, b, out);
}

int32_t to_list(int64_t a, double** out, int64_t* out_len) {
  return guarded([&] {
    core::reject_while_tracing("tolist");
    require(out, "out");
    require(out_len, "out_len");
    const at::Tensor flat = flat_copy(*tensor_argument(a), at::kDouble);
    store_values(at::ArrayRef<double>(flat.const_data_ptr<double>(), static_cast<size_t>(flat.numel())), out,
                 out_len);
  });
}

int32_t to_int_list(int64_t a, int64_t** out, int64_t* out_len) {
  return guarded([&] {
    core::reject_while_tracing("tolist");
    require(out, "out");
    require(out_len, "out_len");
    const auto tensor = tensor_argument(a);
    if (!at::isIntegralType(tensor->scalar_type(), /*includeBool=*/true)) {
      ErrorFields fields;
      fields.op = "to_int_list";
      fields.expected = "an integer dtype or bool";
      fields.got = core::dtype_name(tensor->scalar_type());
      throw Error(ErrorKind::kDtypeMismatch, "expected an integer or bool tensor, got " + fields.got, fields);
    }
    const at::Tensor flat = flat_copy(*tensor, at::kLong);
    store_values(at::IntArrayRef(flat.const_data_ptr<int64_t>(), static_cast<size_t>(flat.numel())), out,
                 out_len);
  });
}

}  // namespace simple_torch::abi::body
