// Arrays that their library never changes.
#pragma once

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Whether objects of this type are arrays of JAX or TensorFlow: these count on their memory staying as it
/// is, their buffers say so, and their capsules, of before DLPack 1, cannot. The caller holds the GIL.
bool is_immutable_array(PyTypeObject* type) noexcept;

}  // namespace simple_torch::bridge
