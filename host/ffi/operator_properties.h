// Calls of native functions that read one tensor or make one from numbers, which functions name in
// @[operator(…)]. A result is missing if the function's body has to run.
#pragma once

#include "host/compiler/bytecode.h"
#include "host/values/objects.h"

namespace spl {

/// A new instance of a class with one field, the handle.
Value instance_of_handle(Record* record, int64_t handle);

/// A function of a handle and of integers. Its result is a value, a handle of the class, or an index or a key
/// of the array or dict that the attribute names.
Value call_property(const Proto& proto, const Value* args, uint32_t count);

/// The array of integers that copy(handle, address, capacity) writes.
Value call_list(const Proto& proto, const Value* args, uint32_t count);

/// The elements as nested arrays, or the number of a 0-d tensor.
Value read_elements(const Proto& proto, const Value* args, uint32_t count);

/// A tensor of nested arrays of numbers, all of which have the lengths of the first.
Value make_elements(const Proto& proto, const Value* args, uint32_t count);

}  // namespace spl
