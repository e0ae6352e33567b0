// References to objects and tensors, counted under the GIL.
#include "bridge/objects/references.h"

#include <string>

#include "bridge/runtime/backend.h"
#include "bridge/tensors/tensor_object.h"
#include "bridge/tensors/tensors.h"
#include "core_libtorch/error.h"

namespace simple_torch::bridge {

Object* to_external(PyObject* owned) noexcept {
  if (owned != nullptr && is_immortal(owned)) {
    Py_DECREF(owned);
  }
  return as_object(owned);
}

PyObject* from_external(Object* object) {
  if (holds_tensor(object)) {
    return tensor_to_python(release_tensor(object));
  }
  if (is_immortal(as_python(object))) {
    Py_INCREF(as_python(object));
  }
  return as_python(object);
}

PyObject* referenced(const Object* object) {
  return holds_tensor(object) ? tensor_to_python(tensor_in(object))
                              : Ref::borrowed(as_python(const_cast<Object*>(object))).release();
}

Ref object_of(ObjectHandle handle) {
  if (Object* object = backend_services().object_of(handle)) [[likely]] {
    return Ref::borrowed(as_python(object));
  }
  at::Tensor tensor;
  if (!backend_services().tensor_of(handle, tensor)) {
    throw Error(ErrorKind::kInvalidHandle, "handle " + std::to_string(handle) + " was already released");
  }
  Ref object(tensor_to_python(tensor));
  return object ? std::move(object) : throw PythonErrorSet();
}

}  // namespace simple_torch::bridge
