// NumPy's arrays in pickles, which become tensors.
#pragma once

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// All throw Error(kIo) for what does not belong there, and for element types that tensors do not have.

/// numpy.dtype("u1", …)
ValuePtr array_type_of(const Value& arguments);
/// numpy._core.multiarray._reconstruct(…): an array whose state follows.
ValuePtr empty_array_of(const Value& arguments);
/// numpy._core.numeric._frombuffer(bytes, dtype, shape, order), as protocol 5 writes an array.
ValuePtr array_from_buffer(const Value& arguments);

/// Of its kArrayType: the order of bytes.
void take_array_type_state(Value& type, const Value& state);
/// The kArray becomes a kTensor.
void take_array_state(Value& array, const Value& state);

}  // namespace simple_torch::core::pickle
