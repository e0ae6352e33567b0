// Tensors across: the very same torch tensor where both sides are torch, DLPack capsules elsewhere.
#pragma once

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// In a handler: an exception of Python code that LibTorch called, of a mode say, pends again. The caller has
/// the GIL. Others are left alone.
void restore_python_exception() noexcept;

/// The same into the calling thread's error record, from any thread without a lock: the number of its kind,
/// or 0 for others.
int32_t report_python_exception() noexcept;

/// The torch.Tensor object of this tensor, the same one each time, so that autograd history, hooks and
/// identity survive. A new reference, or NULL with an exception pending. All here need the GIL.
PyObject* tensor_to_python(const at::Tensor& tensor);

/// Whether the object is a torch.Tensor; false where torch was not imported.
bool is_torch_tensor(PyObject* object);

/// The tensor of an object of which that is true; lives as long as the object.
const at::Tensor& torch_tensor_in(PyObject* object);

/// The tensor of a torch.Tensor, else the DLPack tensor that the object gives (see ways_in.h). False with an
/// exception pending where it has none.
bool tensor_from_python(PyObject* object, const Wanted& wanted, TensorResult& out);

/// The torch.Generator object of this generator, the same one each time.
PyObject* generator_to_python(const at::Generator& generator);

/// The generator of a torch.Generator. False with an exception pending (TypeError) where the object is none.
bool generator_from_python(PyObject* object, at::Generator& out);

/// A copy of a producer's struct whose deleter needs no GIL: it hands the producer's over to a thread that
/// has it. NULL with an exception pending when memory is out; the producer's is freed then.
DLManagedTensorVersioned* with_deferred_deleter(DLManagedTensorVersioned* original);

/// A capsule that owns the tensor, as torch.from_dlpack and others take it; sets *tensor to NULL.
/// Whoever frees the capsule unused, on any thread, frees the tensor.
PyObject* capsule_of(DLManagedTensorVersioned** tensor);

/// The same for the older structure, which it takes over also when it fails.
PyObject* legacy_capsule_of(DLManagedTensor* tensor);

/// Takes the tensor out of a capsule of either protocol version and marks the capsule as used. What its
/// producer must do to free it is done under the GIL, later, whichever thread lets go of the tensor.
bool take_capsule(PyObject* capsule, TensorResult& out);

}  // namespace simple_torch::bridge
