// Python objects on their way out of the bridge and back in: who holds which reference. All need the GIL.
#pragma once

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// None, True and False live as long as Python. What stands for one outside of the bridge holds no reference
/// to it, so that a thread without the GIL lets go of it at once.
inline bool is_immortal(const PyObject* object) noexcept {
  return object == Py_None || object == Py_True || object == Py_False;
}

/// A new reference on its way out, or NULL.
Object* to_external(PyObject* owned) noexcept;

/// What was handed out comes back as a new reference, or NULL; NULL with an exception pending where a
/// tensor's object cannot be made.
PyObject* from_external(Object* object);

/// The same of what stays outside.
PyObject* referenced(const Object* object);

/// Thrown where a Python exception pends, which says why.
struct PythonErrorSet {};

/// The object of a handle that was live when the call began. It stays while this does, also when others
/// release the handle meanwhile. Throws Error(kInvalidHandle) where they were faster, and PythonErrorSet.
Ref object_of(ObjectHandle handle);

}  // namespace simple_torch::bridge
