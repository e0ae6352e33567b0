// What Python's own types are made of: dicts of other classes, sets, bytes, complex numbers, devices.
#pragma once

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// Of the arguments of a call in a pickle. All throw Error(kIo) for what does not belong there.
ValuePtr ordered_dict_of(const Value& arguments);
ValuePtr counter_of(const Value& arguments);
ValuePtr set_of(const Value& arguments);
ValuePtr complex_of(const Value& arguments);
/// _codecs.encode(text, "latin1"), as protocol 2 writes bytes.
ValuePtr encoded_of(const Value& arguments);
/// bytearray(bytes), bytes()
ValuePtr bytes_of(const Value& arguments);
/// torch.device("cuda", 0)
ValuePtr device_of(const Value& arguments);
/// torch.Size((2, 3))
ValuePtr size_of(const Value& arguments);

}  // namespace simple_torch::core::pickle
