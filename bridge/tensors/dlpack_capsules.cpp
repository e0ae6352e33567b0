// DLPack capsules: names that say who owns the tensor, and deleters that may run on any thread.
#include <ATen/dlpack.h>

#include <new>

#include "bridge/runtime/pending_release.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

template <class Managed>
struct Protocol;
template <>
struct Protocol<DLManagedTensorVersioned> {
  static constexpr const char* fresh = "dltensor_versioned";
  static constexpr const char* used = "used_dltensor_versioned";
};
template <>
struct Protocol<DLManagedTensor> {
  static constexpr const char* fresh = "dltensor";
  static constexpr const char* used = "used_dltensor";
};

template <class Managed>
void call_deleter(void* what) {
  auto* tensor = static_cast<Managed*>(what);
  if (tensor->deleter != nullptr) {
    tensor->deleter(tensor);
  }
}

/// Runs under the GIL when the capsule dies. A consumer that took the tensor has renamed the capsule.
template <class Managed>
void free_unused_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, Protocol<Managed>::fresh) == 0) {
    return;
  }
  const PendingException pending;
  call_deleter<Managed>(PyCapsule_GetPointer(capsule, Protocol<Managed>::fresh));
}

/// What a consumer may know of it beside its tensor. Those of before DLPack 1 tell nothing.
DLPackVersion version_of(const DLManagedTensorVersioned& tensor) { return tensor.version; }
DLPackVersion version_of(const DLManagedTensor& /*tensor*/) {
  return {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
}
uint64_t flags_of(const DLManagedTensorVersioned& tensor) { return tensor.flags; }
uint64_t flags_of(const DLManagedTensor& /*tensor*/) { return 0; }

/// Many producers (NumPy among them) take the GIL in their deleter, which could wait or, once the
/// interpreter is gone, crash.
template <class Managed>
DLManagedTensorVersioned* deferred(Managed* original) {
  const auto end = [](DLManagedTensorVersioned* self) {
    defer(Deferred::kMemory, call_deleter<Managed>, self->manager_ctx);
    delete self;
  };
  auto* copy =
      new (std::nothrow) DLManagedTensorVersioned{version_of(*original), original, end, 0, DLTensor{}};
  // Of another major version no more is known, and the import refuses it by its version.
  if (copy != nullptr && copy->version.major == DLPACK_MAJOR_VERSION) {
    copy->flags = flags_of(*original);
    copy->dl_tensor = original->dl_tensor;
  }
  if (copy == nullptr) {
    PyErr_NoMemory();
  }
  return copy;
}

/// NULL with an exception pending on failure; the capsule then still owns its tensor.
template <class Managed>
DLManagedTensorVersioned* take(PyObject* capsule) {
  auto* original = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Protocol<Managed>::fresh));
  if (original == nullptr) {
    return nullptr;
  }
  DLManagedTensorVersioned* copy = deferred(original);
  if (copy != nullptr && PyCapsule_SetName(capsule, Protocol<Managed>::used) != 0) {
    delete copy;
    return nullptr;
  }
  return copy;
}

}  // namespace

PyObject* capsule_of(DLManagedTensorVersioned** tensor) {
  PyObject* capsule = PyCapsule_New(*tensor, Protocol<DLManagedTensorVersioned>::fresh,
                                    free_unused_capsule<DLManagedTensorVersioned>);
  if (capsule != nullptr) {
    *tensor = nullptr;
  }
  return capsule;
}

PyObject* legacy_capsule_of(DLManagedTensor* tensor) {
  PyObject* capsule =
      PyCapsule_New(tensor, Protocol<DLManagedTensor>::fresh, free_unused_capsule<DLManagedTensor>);
  if (capsule == nullptr) {
    call_deleter<DLManagedTensor>(tensor);
  }
  return capsule;
}

DLManagedTensorVersioned* with_deferred_deleter(DLManagedTensorVersioned* original) {
  DLManagedTensorVersioned* copy = deferred(original);
  if (copy == nullptr) {
    call_deleter<DLManagedTensorVersioned>(original);
  }
  return copy;
}

bool take_capsule(PyObject* capsule, TensorResult& out) {
  if (PyCapsule_IsValid(capsule, Protocol<DLManagedTensorVersioned>::fresh) != 0) {
    out.versioned = take<DLManagedTensorVersioned>(capsule);
    out.way = WayIn::kCapsule;
    return out.versioned != nullptr;
  }
  if (PyCapsule_IsValid(capsule, Protocol<DLManagedTensor>::fresh) != 0) {
    out.versioned = take<DLManagedTensor>(capsule);
    out.way = WayIn::kLegacyCapsule;
    return out.versioned != nullptr;
  }
  if (PyCapsule_IsValid(capsule, Protocol<DLManagedTensorVersioned>::used) != 0 ||
      PyCapsule_IsValid(capsule, Protocol<DLManagedTensor>::used) != 0) {
    PyErr_SetString(PyExc_ValueError, "this DLPack capsule was used already; each can be used once");
  } else {
    PyErr_Format(PyExc_TypeError, "a DLPack capsule is needed, and this is a %s", Py_TYPE(capsule)->tp_name);
  }
  return false;
}

}  // namespace simple_torch::bridge
