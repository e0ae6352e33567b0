// PyTorch's names of layouts and memory formats, without `torch.`.
#pragma once

#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>

#include <array>
#include <string_view>

namespace simple_torch::core {

template <class Code>
struct Named {
  std::string_view name;
  Code code;
};

inline constexpr std::array kLayouts{
    Named<c10::Layout>{"strided", c10::Layout::Strided},
    Named<c10::Layout>{"sparse_coo", c10::Layout::Sparse},
    Named<c10::Layout>{"sparse_csr", c10::Layout::SparseCsr},
    Named<c10::Layout>{"sparse_csc", c10::Layout::SparseCsc},
    Named<c10::Layout>{"sparse_bsr", c10::Layout::SparseBsr},
    Named<c10::Layout>{"sparse_bsc", c10::Layout::SparseBsc},
    Named<c10::Layout>{"_mkldnn", c10::Layout::Mkldnn},
    Named<c10::Layout>{"jagged", c10::Layout::Jagged},
};

inline constexpr std::array kMemoryFormats{
    Named<c10::MemoryFormat>{"contiguous_format", c10::MemoryFormat::Contiguous},
    Named<c10::MemoryFormat>{"preserve_format", c10::MemoryFormat::Preserve},
    Named<c10::MemoryFormat>{"channels_last", c10::MemoryFormat::ChannelsLast},
    Named<c10::MemoryFormat>{"channels_last_3d", c10::MemoryFormat::ChannelsLast3d},
};

}  // namespace simple_torch::core
