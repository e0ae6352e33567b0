// Reads NumPy arrays in pickles as tensors.
#pragma once

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// All throw Error(kIo) for invalid arguments and for element types without a torch dtype.

/// numpy.dtype("u1", …)
ValuePtr array_type_of(const Value& arguments);
/// numpy._core.multiarray._reconstruct(…): an array whose state follows.
ValuePtr empty_array_of(const Value& arguments);
/// numpy._core.numeric._frombuffer(bytes, dtype, shape, order), as protocol 5 writes an array.
ValuePtr array_from_buffer(const Value& arguments);
/// numpy._core.multiarray.scalar(dtype, bytes), such as a numpy.float64: a plain number or bool.
ValuePtr array_scalar_of(const Value& arguments);

/// Sets the byte order of a kArrayType.
void take_array_type_state(Value& type, const Value& state);
/// Turns the kArray into a kTensor.
void take_array_state(Value& array, const Value& state);

}  // namespace simple_torch::core::pickle
