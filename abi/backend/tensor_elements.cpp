// Bodies of copy_elements and from_elements: all elements of a tensor in 64 bits each.
#include <ATen/ops/empty.h>
#include <ATen/ops/lift_fresh.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "abi/backend/guarded.h"
#include "abi/backend/operator_defaults.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/autograd/transforms.h"
#include "core_libtorch/dtypes.h"
#include "core_libtorch/jit/tracing.h"
#include "core_libtorch/ops.h"

namespace simple_torch::abi {
namespace {

enum ElementKind : int64_t { kFloats = 0, kIntegers = 1, kBools = 2 };
constexpr int64_t kHeader = 2;  // the kind and the number of dimensions
constexpr int64_t kMaxDims = 64;

std::optional<ElementKind> kind_of(const at::Tensor& tensor) {
  const at::ScalarType dtype = tensor.scalar_type();
  if (tensor.layout() != at::kStrided || tensor.is_nested() || dtype == at::ScalarType::UInt64) {
    return std::nullopt;
  }
  return dtype == at::kBool                 ? std::optional(kBools)
         : at::isIntegralType(dtype, false) ? std::optional(kIntegers)
         : at::isFloatingType(dtype)        ? std::optional(kFloats)
                                            : std::nullopt;
}

template <class T>
void write_as(const at::Tensor& tensor, int64_t* words) {
  const T* data = tensor.const_data_ptr<T>();
  std::transform(data, data + tensor.numel(), words, [](T value) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::bit_cast<int64_t>(static_cast<double>(value));
    } else {
      return static_cast<int64_t>(value);
    }
  });
}

// A conversion takes longer than the copy of a small tensor, so that frequent dtypes are read as they are.
void write_elements(const at::Tensor& tensor, ElementKind kind, int64_t* words) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return write_as<float>(tensor, words);
    case at::kDouble:
      return write_as<double>(tensor, words);
    case at::kLong:
      return write_as<int64_t>(tensor, words);
    case at::kBool:
      return write_as<bool>(tensor, words);
    default:
      return kind == kFloats ? write_as<double>(tensor.to(at::kDouble), words)
                             : write_as<int64_t>(tensor.to(at::kLong), words);
  }
}

int64_t copy_words(const at::Tensor& tensor, int64_t* words, int64_t capacity) {
  const std::optional<ElementKind> kind = kind_of(tensor);
  if (!kind) {
    return 0;
  }
  const int64_t count = kHeader + tensor.dim() + tensor.numel();
  if (count > capacity) {
    return count;
  }
  words[0] = *kind;
  words[1] = tensor.dim();
  const at::IntArrayRef sizes = tensor.sizes();
  int64_t* const elements = std::copy(sizes.begin(), sizes.end(), words + kHeader);
  const bool is_ready = tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_neg();
  write_elements(is_ready ? tensor : tensor.detach().to(at::kCPU).contiguous().resolve_neg(), *kind,
                 elements);
  return count;
}

/// The elements at an address, checked.
struct Elements {
  ElementKind kind;
  at::IntArrayRef sizes, words;
};

[[noreturn]] void fail_elements(const std::string& message) {
  throw Error(ErrorKind::kInvalidArgument, "from_elements: " + message);
}

Elements elements_at(const int64_t* words, int64_t count) {
  if (count < kHeader || words[0] < kFloats || words[0] > kBools) {
    fail_elements("the first word must be a kind, 0 to 2, and the second the number of dimensions");
  }
  const int64_t dims = words[1];
  if (dims < 0 || dims > std::min(kMaxDims, count - kHeader)) {
    fail_elements("expected 0 to 64 dimensions with a size each, got " + std::to_string(dims));
  }
  const at::IntArrayRef sizes(words + kHeader, static_cast<size_t>(dims));
  int64_t numel = 1;
  for (const int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(numel, size, &numel)) {
      fail_elements("sizes must be non-negative and their product must fit into int64, got " +
                    std::to_string(size));
    }
  }
  if (numel != count - kHeader - dims) {
    fail_elements("the sizes have " + std::to_string(numel) + " elements, got " +
                  std::to_string(count - kHeader - dims));
  }
  return {static_cast<ElementKind>(words[0]), sizes, {sizes.end(), static_cast<size_t>(numel)}};
}

template <class T>
at::Tensor tensor_of(const Elements& elements, at::ScalarType dtype) {
  at::Tensor tensor = at::empty(elements.sizes, at::TensorOptions().dtype(dtype));
  std::transform(elements.words.begin(), elements.words.end(), tensor.mutable_data_ptr<T>(),
                 [](int64_t word) {
                   if constexpr (std::is_floating_point_v<T>) {
                     return static_cast<T>(std::bit_cast<double>(word));
                   } else {
                     return static_cast<T>(word);
                   }
                 });
  return tensor;
}

at::Tensor tensor_of_kind(const Elements& elements) {
  if (elements.kind != kFloats) {
    return elements.kind == kBools ? tensor_of<bool>(elements, at::kBool)
                                   : tensor_of<int64_t>(elements, at::kLong);
  }
  const at::ScalarType dtype = core::dtype_of_code(-1);
  return dtype == at::kFloat ? tensor_of<float>(elements, dtype)
                             : tensor_of<double>(elements, at::kDouble).to(dtype);
}

}  // namespace

namespace body {

int32_t copy_elements(int64_t a, void* address, int64_t capacity, int64_t* out) {
  return guarded_result(out, [&] {
    require(address, "address");
    core::reject_while_tracing("tolist");
    const auto tensor = tensor_argument(a);
    return core::with_error_context("copy_elements", {&*tensor}, [&] {
      return copy_words(*tensor, static_cast<int64_t*>(address), capacity);
    });
  });
}

int32_t from_elements(void* address, int64_t count, int64_t* out) {
  return guarded_result(out, [&]() -> int64_t {
    require(address, "address");
    const Elements elements = elements_at(static_cast<const int64_t*>(address), count);
    if (!has_plain_defaults()) {
      return 0;
    }
    const at::Tensor tensor = core::with_error_context("from_elements", core::kNoOperands, [&] {
      const core::OutsideTransforms memory;
      return tensor_of_kind(elements);
    });
    return new_handle(core::in_transforms() ? at::lift_fresh(tensor) : tensor);
  });
}

}  // namespace body
}  // namespace simple_torch::abi
