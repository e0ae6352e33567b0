// An Object that holds an at::Tensor instead of a Python object. The Python object is created, or found, when
// Python code needs it.
//
// Creating one and reading its tensor needs no GIL. A tensor that came from Python stays a Python object: an
// additional at::Tensor reference would be visible, for example to torch.utils.swap_tensors, which requires a
// use count of one.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

#include "bridge/bridge_api.h"

namespace simple_torch::bridge {

namespace tensor_object {

using Owner = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
inline constexpr uintptr_t kTag = 1;  // no object has an odd address

inline c10::TensorImpl* impl_in(const Object* object) noexcept {
  return reinterpret_cast<c10::TensorImpl*>(reinterpret_cast<uintptr_t>(object) & ~kTag);
}

}  // namespace tensor_object

/// Consumes the reference of a defined tensor; `release_tensor` returns it.
inline Object* as_object(at::Tensor tensor) noexcept {
  return reinterpret_cast<Object*>(reinterpret_cast<uintptr_t>(tensor.unsafeReleaseTensorImpl()) |
                                   tensor_object::kTag);
}

inline bool holds_tensor(const Object* object) noexcept {
  return (reinterpret_cast<uintptr_t>(object) & tensor_object::kTag) != 0;
}

/// A new reference to the tensor of an object that holds one.
inline at::Tensor tensor_in(const Object* object) {
  return at::Tensor(tensor_object::Owner::reclaim_copy(tensor_object::impl_in(object)));
}

inline at::Tensor release_tensor(Object* object) {
  return at::Tensor(tensor_object::Owner::reclaim(tensor_object::impl_in(object)));
}

}  // namespace simple_torch::bridge
