// The Python frame below a call of the program. Libraries look at their caller's frame: pandas in query(),
// sympy in lambdify(), pydantic in create_model(), warnings by their stacklevel.
#pragma once

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// PyObject_Vectorcall, on a frame of its own where no frame runs yet; not for functions in C. `arguments`
/// has a free slot before the first. Needs the GIL.
PyObject* call_on_frame(PyObject* callable, PyObject* const* arguments, size_t count_and_flag,
                        PyObject* names);

/// Removes the frame from the exception's traceback.
void remove_base_frame(PyObject* exception) noexcept;

}  // namespace simple_torch::bridge
