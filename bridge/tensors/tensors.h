// Tensors between Simple and Python: the same torch tensor where both sides use torch, else DLPack capsules.
#pragma once

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// In a catch block: sets an exception of Python code that LibTorch called, such as a dispatch mode, as the
/// Python error again. Ignores other exceptions. The caller holds the GIL.
void restore_python_exception() noexcept;

/// Records such an exception in the calling thread's error record. Returns its kind, or 0 for other
/// exceptions. The caller holds no lock.
int32_t report_python_exception() noexcept;

/// The torch.Tensor object of this tensor, the same object each time, so that autograd history, hooks and
/// identity are preserved. A new reference, or NULL with an exception set. The functions below need the GIL.
PyObject* tensor_to_python(const at::Tensor& tensor);

/// Whether the object is a torch.Tensor; false when torch was not imported.
bool is_torch_tensor(PyObject* object);

/// The tensor of a torch.Tensor object; lives as long as the object.
const at::Tensor& torch_tensor_in(PyObject* object);

/// The tensor of a torch.Tensor; any other object is imported by DLPack (see dlpack_import.h). False with an
/// exception set on failure.
bool tensor_from_python(PyObject* object, const ImportOptions& wanted, TensorResult& out);

/// The torch.Generator object of this generator, the same object each time.
PyObject* generator_to_python(const at::Generator& generator);

/// The generator of a torch.Generator object. False with a TypeError set for other objects.
bool generator_from_python(PyObject* object, at::Generator& out);

/// A copy of a producer's struct whose deleter needs no GIL: it queues the producer's deleter. NULL with an
/// exception set when out of memory; the producer's struct is then deleted.
DLManagedTensorVersioned* with_queued_deleter(DLManagedTensorVersioned* original);

/// Calls the struct's deleter, and what it queues, before it returns; ignores NULL. Keeps the current
/// exception.
void delete_now(DLManagedTensorVersioned* managed) noexcept;

/// Imports the struct, which it consumes. The deleter of a rejected struct has run on return. False with a
/// BufferError set, or with the exception of Python code that a copy ran.
bool import_struct(DLManagedTensorVersioned* managed, CopyRule rule, at::Tensor& out);

/// A capsule that owns the tensor; sets *tensor to NULL. Destroying the unused capsule, on any thread,
/// deletes the tensor.
PyObject* make_capsule(DLManagedTensorVersioned** tensor);

/// The same for the unversioned struct, which it consumes also on failure.
PyObject* make_legacy_capsule(DLManagedTensor* tensor);

/// Moves the tensor out of a capsule of either protocol version and marks the capsule as used. The producer's
/// deleter runs later, under the GIL, whichever thread destroys the tensor.
bool import_capsule(PyObject* capsule, TensorResult& out);

}  // namespace simple_torch::bridge
