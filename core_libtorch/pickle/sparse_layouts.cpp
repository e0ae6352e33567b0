#include "core_libtorch/pickle/sparse_layouts.h"

#include <algorithm>
#include <array>
#include <utility>

namespace simple_torch::core::pickle {
namespace {

using LayoutName = std::pair<c10::Layout, std::string_view>;

constexpr std::array kLayouts{
    LayoutName{c10::kSparse, "torch.sparse_coo"}, LayoutName{c10::kSparseCsr, "torch.sparse_csr"},
    LayoutName{c10::kSparseCsc, "torch.sparse_csc"}, LayoutName{c10::kSparseBsr, "torch.sparse_bsr"},
    LayoutName{c10::kSparseBsc, "torch.sparse_bsc"}};

}  // namespace

std::optional<c10::Layout> sparse_layout_of(std::string_view name) {
  const auto row =
      std::find_if(kLayouts.begin(), kLayouts.end(), [&](const LayoutName& r) { return r.second == name; });
  return row == kLayouts.end() ? std::nullopt : std::optional(row->first);
}

std::optional<std::string_view> name_of_sparse_layout(c10::Layout layout) {
  const auto row =
      std::find_if(kLayouts.begin(), kLayouts.end(), [&](const LayoutName& r) { return r.first == layout; });
  return row == kLayouts.end() ? std::nullopt : std::optional(row->second);
}

}  // namespace simple_torch::core::pickle
