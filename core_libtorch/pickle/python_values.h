// Makes values of Python's types: dict subclasses, sets, bytes, complex numbers, devices.
#pragma once

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// Each makes a value of a call's arguments in a pickle. All throw Error(kIo) for invalid arguments.
ValuePtr ordered_dict_of(const Value& arguments);
ValuePtr counter_of(const Value& arguments);
/// collections.defaultdict(factory), whose factory is never called.
ValuePtr default_dict_of(const Value& arguments);
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
