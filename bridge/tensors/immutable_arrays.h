// Recognizes arrays that their library treats as immutable.
#pragma once

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Whether the type is an array of JAX or TensorFlow, which rely on unchanged memory. Their buffers are
/// marked read-only; their capsules, from before DLPack 1, cannot be. The caller holds the GIL.
bool is_immutable_array(PyTypeObject* type) noexcept;

}  // namespace simple_torch::bridge
