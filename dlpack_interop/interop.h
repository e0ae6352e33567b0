// Exports at::Tensor by DLPack and imports DLPack tensors, without copies.
#pragma once

#include <ATen/core/Tensor.h>

#include "dlpack_interop/managed.h"

namespace simple_torch::dlpack {

/// The tensor's memory as a DLPack 1 tensor, or a copy of it with the flag IS_COPIED. READ_ONLY is set where
/// import_tensor got it. IS_COPIED of an import is not passed on, since the tensor shares its memory with the
/// consumer. An exported storage can no longer be resized, which would free the memory.
///
/// Throws Error(kInvalidArgument) for a tensor that requires grad, that is conjugated or negated (unless
/// copied), sparse, quantized or without memory; Error(kDtypeMismatch) or Error(kNotImplemented) for a
/// dtype or device that DLPack or this library does not name.
Managed export_tensor(const at::Tensor& tensor, bool copy = false);

/// Completes a move: `exported` is an export without a copy, of a tensor that the caller has released since.
/// Sets IS_COPIED where the import of the memory had it and the structure is the sole owner: no other tensor,
/// view or export, and no weak reference to the storage.
Managed complete_move(Managed exported) noexcept;

/// A copy of the tensor's values in the order of `format`; counts its bytes. Throws as export_tensor.
at::Tensor copied_values(const at::Tensor& tensor, at::MemoryFormat format);

/// Fills `out` with the tensor's memory, shape and strides, which stay the tensor's own. Throws as
/// export_tensor, and for a read-only tensor, since the structure has no flags.
void borrow_tensor(const at::Tensor& tensor, DLTensor& out);

/// The result of import_tensor(export_tensor(tensor)), without the structure between: a tensor of its own on
/// the same memory, detached from autograd. Throws as export_tensor.
at::Tensor share_tensor(const at::Tensor& tensor);

/// The storage behind a structure that export_tensor made; NULL for another producer's.
const c10::Storage* exported_storage(const DLManagedTensorVersioned& managed) noexcept;

/// The same for consumers older than DLPack 1. The caller owns the result. Throws as export_tensor, and for a
/// read-only tensor, since the older structure has no flags.
DLManagedTensor* export_legacy(const at::Tensor& tensor);

/// A tensor over the memory of a DLPack tensor. Its deleter runs when the last user of the memory is gone,
/// on any thread. Consumes `managed` unless it rejects it. Writing to a read-only import through LibTorch
/// fails.
///
/// Throws Error(kInvalidArgument), which names the invalid field; Error(kDtypeMismatch) for a dtype that
/// torch lacks; Error(kUnavailable) or Error(kNotImplemented) for a device that does not exist or is not
/// supported.
at::Tensor import_tensor(Managed&& managed);

/// The same for writable memory whose owner needs no structure: `release(owner)` runs where the deleter
/// would.
at::Tensor import_memory(const DLTensor& described, void* owner, void (*release)(void*));

}  // namespace simple_torch::dlpack
