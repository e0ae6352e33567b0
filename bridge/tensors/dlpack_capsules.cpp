// DLPack capsules: the capsule's name marks who owns the tensor; deleters may run on any thread.
#include <ATen/dlpack.h>

#include <new>
#include <optional>
#include <utility>

#include "bridge/runtime/backend.h"
#include "bridge/runtime/pending_release.h"
#include "bridge/tensors/tensor_type.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

template <class Managed>
struct Protocol;
template <>
struct Protocol<DLManagedTensorVersioned> {
  static constexpr const char* unused = "dltensor_versioned";
  static constexpr const char* used = "used_dltensor_versioned";
};
template <>
struct Protocol<DLManagedTensor> {
  static constexpr const char* unused = "dltensor";
  static constexpr const char* used = "used_dltensor";
};

template <class Managed>
void call_deleter(void* what) {
  auto* tensor = static_cast<Managed*>(what);
  if (tensor->deleter != nullptr) {
    tensor->deleter(tensor);
  }
}

/// The capsule's destructor, called under the GIL. A consumer that took the tensor has renamed the capsule.
template <class Managed>
void free_unused_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, Protocol<Managed>::unused) == 0) {
    return;
  }
  const PendingException pending;
  call_deleter<Managed>(PyCapsule_GetPointer(capsule, Protocol<Managed>::unused));
}

/// Version and flags of a struct; the unversioned struct has neither.
DLPackVersion version_of(const DLManagedTensorVersioned& tensor) { return tensor.version; }
DLPackVersion version_of(const DLManagedTensor& /*tensor*/) {
  return {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
}
uint64_t flags_of(const DLManagedTensorVersioned& tensor) { return tensor.flags; }
uint64_t flags_of(const DLManagedTensor& /*tensor*/) { return 0; }

/// Many producers, including NumPy, acquire the GIL in their deleter. That may block, or crash after
/// finalization.
template <class Managed>
DLManagedTensorVersioned* copy_with_queued_deleter(Managed* original) {
  const auto deleter = [](DLManagedTensorVersioned* self) {
    queue_release(PendingKind::kMemory, call_deleter<Managed>, self->manager_ctx);
    delete self;
  };
  auto* copy =
      new (std::nothrow) DLManagedTensorVersioned{version_of(*original), original, deleter, 0, DLTensor{}};
  // The layout of another major version is unknown; the import rejects it by its version.
  if (copy != nullptr && copy->version.major == DLPACK_MAJOR_VERSION) {
    copy->flags = flags_of(*original);
    copy->dl_tensor = original->dl_tensor;
  }
  if (copy == nullptr) {
    PyErr_NoMemory();
  }
  return copy;
}

/// NULL with an exception set on failure; the capsule then still owns its tensor.
template <class Managed>
DLManagedTensorVersioned* take(PyObject* capsule) {
  auto* original = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Protocol<Managed>::unused));
  if (original == nullptr) {
    return nullptr;
  }
  DLManagedTensorVersioned* copy = copy_with_queued_deleter(original);
  if (copy != nullptr && PyCapsule_SetName(capsule, Protocol<Managed>::used) != 0) {
    delete copy;
    return nullptr;
  }
  return copy;
}

}  // namespace

PyObject* make_capsule(DLManagedTensorVersioned** tensor) {
  PyObject* capsule = PyCapsule_New(*tensor, Protocol<DLManagedTensorVersioned>::unused,
                                    free_unused_capsule<DLManagedTensorVersioned>);
  if (capsule != nullptr) {
    *tensor = nullptr;
  }
  return capsule;
}

PyObject* make_legacy_capsule(DLManagedTensor* tensor) {
  PyObject* capsule =
      PyCapsule_New(tensor, Protocol<DLManagedTensor>::unused, free_unused_capsule<DLManagedTensor>);
  if (capsule == nullptr) {
    call_deleter<DLManagedTensor>(tensor);
  }
  return capsule;
}

DLManagedTensorVersioned* with_queued_deleter(DLManagedTensorVersioned* original) {
  DLManagedTensorVersioned* copy = copy_with_queued_deleter(original);
  if (copy == nullptr) {
    call_deleter<DLManagedTensorVersioned>(original);
  }
  return copy;
}

void delete_now(DLManagedTensorVersioned* managed) noexcept {
  if (managed == nullptr) {
    return;
  }
  const PendingException pending;
  const ImmediateReleaseScope releases_here;
  call_deleter<DLManagedTensorVersioned>(managed);
}

bool import_struct(DLManagedTensorVersioned* managed, CopyRule rule, at::Tensor& out) {
  ServiceError error;
  std::optional<ImmediateReleaseScope> releases_here(std::in_place);
  const bool is_imported = backend_services().import_tensor(managed, rule, out, error);
  {
    const PendingException pending;
    releases_here.reset();
  }
  if (!is_imported) {
    raise_buffer_error(error);
  }
  return is_imported;
}

bool import_capsule(PyObject* capsule, TensorResult& out) {
  if (PyCapsule_IsValid(capsule, Protocol<DLManagedTensorVersioned>::unused) != 0) {
    out.versioned = take<DLManagedTensorVersioned>(capsule);
    out.path = ImportPath::kCapsule;
    return out.versioned != nullptr;
  }
  if (PyCapsule_IsValid(capsule, Protocol<DLManagedTensor>::unused) != 0) {
    out.versioned = take<DLManagedTensor>(capsule);
    out.path = ImportPath::kLegacyCapsule;
    return out.versioned != nullptr;
  }
  if (PyCapsule_IsValid(capsule, Protocol<DLManagedTensorVersioned>::used) != 0 ||
      PyCapsule_IsValid(capsule, Protocol<DLManagedTensor>::used) != 0) {
    PyErr_SetString(PyExc_ValueError,
                    "the DLPack capsule was already used; a capsule can be consumed only once");
  } else {
    PyErr_Format(PyExc_TypeError, "expected a DLPack capsule, got %s", Py_TYPE(capsule)->tp_name);
  }
  return false;
}

}  // namespace simple_torch::bridge
