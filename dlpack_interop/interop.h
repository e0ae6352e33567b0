// DLPack in and out of at::Tensor, without copies.
#pragma once

#include <ATen/core/Tensor.h>

#include "dlpack_interop/managed.h"

namespace simple_torch::dlpack {

/// The tensor's memory as a DLPack 1 tensor, or a copy of it, which is flagged IS_COPIED. READ_ONLY goes out
/// again where it came in through import_tensor; IS_COPIED does not, since the tensor keeps what it lends.
/// What was lent cannot be resized any more, which would free it.
///
/// Throws Error(kInvalidArgument) for a tensor that requires grad, that is conjugated or negated (unless
/// copied), sparse, quantized or without memory; Error(kDtypeMismatch) or Error(kNotImplemented) for a
/// dtype or device that DLPack or this library does not name.
Managed export_tensor(const at::Tensor& tensor, bool copy = false);

/// What export_tensor lent without a copy, of a tensor that the caller has let go of since. IS_COPIED goes
/// out again where the memory came in so, and nobody else has it or can get it: no other tensor, no view, no
/// loan, no weak reference to the storage.
Managed hand_over(Managed lent) noexcept;

/// A copy of its values in the order of `format`, which is counted. Throws as export_tensor.
at::Tensor copied_values(const at::Tensor& tensor, at::MemoryFormat format);

/// The tensor's memory, shape and strides as they are, on loan from the tensor itself. Throws as
/// export_tensor, and for a read-only tensor, since the structure cannot say so.
void borrow_tensor(const at::Tensor& tensor, DLTensor& out);

/// What import_tensor makes of what export_tensor gives, without the structure between: a tensor of its own
/// on the same memory, with nothing of autograd. Throws as export_tensor.
at::Tensor share_tensor(const at::Tensor& tensor);

/// The storage that export_tensor lent, or NULL where another producer made the structure.
const c10::Storage* lent_storage(const DLManagedTensorVersioned& managed) noexcept;

/// The same for consumers older than DLPack 1. The caller owns the result. A read-only tensor is refused,
/// since the older structure cannot say so.
DLManagedTensor* export_legacy(const at::Tensor& tensor);

/// A tensor over the memory of a DLPack tensor. Its deleter runs when the last user of the memory is gone,
/// on any thread, or before this throws. Writing to a read-only import through LibTorch fails.
///
/// Throws Error(kInvalidArgument), which names the field that is wrong; Error(kDtypeMismatch) for a dtype
/// that torch lacks; Error(kUnavailable) or Error(kNotImplemented) for a device that is not there.
at::Tensor import_tensor(Managed managed);

/// The same of memory whose owner needs no structure, and whose users may write: `release(owner)` runs where
/// the deleter would.
at::Tensor import_memory(const DLTensor& described, void* owner, void (*release)(void*));

}  // namespace simple_torch::dlpack
