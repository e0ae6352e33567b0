// Rebuilds tensors as torch._utils does.
#pragma once

#include <string>

#include "core_libtorch/pickle/reader.h"
#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// The result of a rebuild function ("torch._utils _rebuild_tensor_v2"); null for other names. Throws
/// Error(kIo) for invalid arguments.
ValuePtr rebuilt(const std::string& function, const Value& arguments, const Makers& makers);

/// torch.serialization._get_layout("torch.sparse_coo")
ValuePtr layout_of(const Value& arguments);

}  // namespace simple_torch::core::pickle
