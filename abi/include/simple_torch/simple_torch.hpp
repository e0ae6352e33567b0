// PyTorch for C++17 programs that must not link LibTorch: tensors that release themselves, exceptions, every
// function of the C ABI (functions.hpp), every operator of PyTorch by name, and DLPack. Header-only; link
// libspl_torch.
//
//   simple_torch::Tensor x = simple_torch::randn({2, 3});
//   simple_torch::Tensor y = simple_torch::op("softmax", x, simple_torch::named("dim", 1)).tensor();
//   std::cout << y << "\n";
#ifndef SIMPLE_TORCH_SIMPLE_TORCH_HPP_
#define SIMPLE_TORCH_SIMPLE_TORCH_HPP_

#if __cplusplus < 201703L
#error "simple_torch.hpp requires C++17"
#endif

#include <simple_torch/functions.hpp>

#include <ostream>

namespace simple_torch {

/// Calls an operator of PyTorch by its name: op("topk", x, 2, named("largest", false)). The overload and the
/// defaults are chosen as in Python.
template <class... T>
Results op(const std::string& name, const T&... values) {
  const Arguments made(values...);
  SplArray* out = nullptr;
  check(spt_op(detail::c_text(name), made.kinds(), made.values(), made.names(), made.names_size(), &out));
  return Results(Array(out));
}

// --- Arithmetic. Integers keep the dtype of an integer tensor.

namespace detail {
template <class N>
using IfNumber = std::enable_if_t<std::is_arithmetic_v<N> && !std::is_same_v<N, bool>, int>;
}  // namespace detail

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }

template <class N, detail::IfNumber<N> = 0>
Tensor operator+(const Tensor& a, N number) {
  if constexpr (std::is_integral_v<N>) {
    return add_int(a, number);
  } else {
    return add_scalar(a, number);
  }
}
template <class N, detail::IfNumber<N> = 0>
Tensor operator+(N number, const Tensor& a) {
  return a + number;
}
template <class N, detail::IfNumber<N> = 0>
Tensor operator-(const Tensor& a, N number) {
  if constexpr (std::is_integral_v<N>) {
    return sub_int(a, number);
  } else {
    return sub_scalar(a, number);
  }
}
template <class N, detail::IfNumber<N> = 0>
Tensor operator-(N number, const Tensor& a) {
  if constexpr (std::is_integral_v<N>) {
    return rsub_int(a, number);
  } else {
    return rsub_scalar(a, number);
  }
}
template <class N, detail::IfNumber<N> = 0>
Tensor operator*(const Tensor& a, N number) {
  if constexpr (std::is_integral_v<N>) {
    return mul_int(a, number);
  } else {
    return mul_scalar(a, number);
  }
}
template <class N, detail::IfNumber<N> = 0>
Tensor operator*(N number, const Tensor& a) {
  return a * number;
}
template <class N, detail::IfNumber<N> = 0>
Tensor operator/(const Tensor& a, N number) {
  if constexpr (std::is_integral_v<N>) {
    return div_int(a, number);
  } else {
    return div_scalar(a, number);
  }
}
template <class N, detail::IfNumber<N> = 0>
Tensor operator/(N number, const Tensor& a) {
  if constexpr (std::is_integral_v<N>) {
    return rdiv_int(a, number);
  } else {
    return rdiv_scalar(a, number);
  }
}

/// Writes the tensor as Python prints it.
inline std::ostream& operator<<(std::ostream& stream, const Tensor& tensor) {
  return stream << tensor_text(tensor);
}

/// Disables the recording of gradients on this thread for its lifetime, as torch.no_grad().
class NoGradGuard {
 public:
  NoGradGuard() : was_enabled_(set_grad_enabled(false)) {}
  NoGradGuard(const NoGradGuard&) = delete;
  NoGradGuard& operator=(const NoGradGuard&) = delete;
  ~NoGradGuard() {
    bool ignored = false;
    spt_set_grad_enabled(was_enabled_, &ignored);
  }

 private:
  bool was_enabled_;
};

// --- DLPack

/// Owns an exported DLPack 1 structure until a consumer accepts it.
class DlpackExport {
 public:
  explicit DlpackExport(DLManagedTensorVersioned* managed) noexcept : managed_(managed) {}
  DlpackExport(DlpackExport&& other) noexcept : managed_(other.release()) {}
  DlpackExport& operator=(DlpackExport&& other) noexcept {
    std::swap(managed_, other.managed_);
    return *this;
  }
  ~DlpackExport() {
    if (managed_ != nullptr) {
      // An import calls the deleter, whose place in the structure only dlpack.h describes.
      int64_t tensor = 0;
      spt_from_dlpack(managed_, &tensor);
      spt_release(tensor);
    }
  }

  /// The structure, which stays owned.
  DLManagedTensorVersioned* get() const noexcept { return managed_; }
  /// Returns the structure for a consumer, who calls its deleter once.
  DLManagedTensorVersioned* release() noexcept { return std::exchange(managed_, nullptr); }

 private:
  DLManagedTensorVersioned* managed_;
};

/// Exports the tensor, which shares its memory with the structure, unless `copy`.
inline DlpackExport to_dlpack(const Tensor& tensor, bool copy = false) {
  DLManagedTensorVersioned* out = nullptr;
  check(spt_to_dlpack(tensor.get(), copy, &out));
  return DlpackExport(out);
}

/// Exports a tensor that is no longer needed: the structure is the only user of its memory.
inline DlpackExport into_dlpack(Tensor&& tensor) {
  DLManagedTensorVersioned* out = nullptr;
  check(spt_into_dlpack(tensor.get(), &out));
  tensor.release();  // consumed
  return DlpackExport(out);
}

/// Imports a structure of any producer, which shares its memory with the tensor. Consumes it, also on error.
inline Tensor from_dlpack(DLManagedTensorVersioned* managed) {
  int64_t out = 0;
  check(spt_from_dlpack(managed, &out));
  return Tensor(out);
}
inline Tensor from_dlpack(DlpackExport&& managed) { return from_dlpack(managed.release()); }

}  // namespace simple_torch

#endif  // SIMPLE_TORCH_SIMPLE_TORCH_HPP_
