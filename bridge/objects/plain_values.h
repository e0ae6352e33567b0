// Python values that need no handle: None, numbers, strings, and lists, tuples and dicts of them.
#pragma once

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Whether the object's class, or a base of it, is one of the program (simple_torch_helpers.subclasses). Such
/// an object is never converted: its methods need the object itself.
bool is_of_program_class(PyObject* object) noexcept;

/// Converts None, a bool, an int of 64 bits, a float, or a str without NUL and surrogates. The text belongs
/// to the object. Returns false, without an exception, for other objects. Runs no Python code; needs the GIL.
bool to_scalar(PyObject* object, Value& out) noexcept;

/// Fills in the entries of `api` for plain values.
void add_plain_value_functions(BridgeApi& api) noexcept;

}  // namespace simple_torch::bridge
