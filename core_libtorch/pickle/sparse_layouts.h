// Python's names of sparse layouts.
#pragma once

#include <c10/core/Layout.h>

#include <optional>
#include <string_view>

namespace simple_torch::core::pickle {

/// "torch.sparse_coo"
std::optional<c10::Layout> sparse_layout_of(std::string_view name);
/// Nothing for layouts that are not sparse.
std::optional<std::string_view> name_of_sparse_layout(c10::Layout layout);

}  // namespace simple_torch::core::pickle
