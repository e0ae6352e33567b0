// Ownership of Python objects as they leave the bridge and return. All functions need the GIL.
#pragma once

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// None, True and False live as long as Python. Outside the bridge they are pointers without a reference, so
/// a thread without the GIL can drop them at once.
inline bool is_immortal(const PyObject* object) noexcept {
  return object == Py_None || object == Py_True || object == Py_False;
}

/// Converts a new reference, or NULL, for use outside the bridge.
Object* to_external(PyObject* owned) noexcept;

/// Consumes an external object and returns a new reference, or NULL for NULL. NULL with an exception set when
/// a tensor's object cannot be created.
PyObject* from_external(Object* object);

/// The same without consuming the external object.
PyObject* referenced(const Object* object);

/// Thrown when a Python exception is set.
struct PythonErrorSet {};

/// The object of a handle that was live when the call began. The reference keeps it alive when other threads
/// release the handle. Throws Error(kInvalidHandle) when they already have, and PythonErrorSet.
Ref object_of(ObjectHandle handle);

}  // namespace simple_torch::bridge
