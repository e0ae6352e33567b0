// What torch._utils rebuilds tensors of.
#pragma once

#include <string>

#include "core_libtorch/pickle/reader.h"
#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// The tensor or parameter that such a function gives; none for other names ("torch._utils
/// _rebuild_tensor_v2"). Throws Error(kIo) for arguments that do not belong there.
ValuePtr rebuilt(const std::string& function, const Value& arguments, const Makers& makers);

/// torch.serialization._get_layout("torch.sparse_coo")
ValuePtr layout_of(const Value& arguments);

}  // namespace simple_torch::core::pickle
