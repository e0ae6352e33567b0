// A tensor of ours in the place of its Python object, which is made, or found, when Python code needs it.
//
// To have one and to look at its tensor takes no GIL. What came out of Python stays an object: a tensor that
// we held beside it would show, as in torch.utils.swap_tensors, which wants to be the only one.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

#include "bridge/bridge_api.h"

namespace simple_torch::bridge {

namespace tensor_object {

using Owner = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
inline constexpr uintptr_t kMark = 1;  // no object has an odd address

inline c10::TensorImpl* impl_in(const Object* object) noexcept {
  return reinterpret_cast<c10::TensorImpl*>(reinterpret_cast<uintptr_t>(object) & ~kMark);
}

}  // namespace tensor_object

/// Takes the tensor's reference over; `taken_tensor` gives it back. The tensor is defined.
inline Object* as_object(at::Tensor tensor) noexcept {
  return reinterpret_cast<Object*>(reinterpret_cast<uintptr_t>(tensor.unsafeReleaseTensorImpl()) |
                                   tensor_object::kMark);
}

inline bool holds_tensor(const Object* object) noexcept {
  return (reinterpret_cast<uintptr_t>(object) & tensor_object::kMark) != 0;
}

/// Of an object that holds one; it goes on to.
inline at::Tensor tensor_in(const Object* object) {
  return at::Tensor(tensor_object::Owner::reclaim_copy(tensor_object::impl_in(object)));
}

inline at::Tensor taken_tensor(Object* object) {
  return at::Tensor(tensor_object::Owner::reclaim(tensor_object::impl_in(object)));
}

}  // namespace simple_torch::bridge
