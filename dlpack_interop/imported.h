// The mark by which an export knows memory that came in by DLPack.
#pragma once

#include <c10/core/Storage.h>

#include <cstdint>

namespace simple_torch::dlpack {

/// The flags of the DLPack tensor whose memory this storage is; 0 for memory of other origin.
uint64_t imported_flags(const c10::Storage& storage) noexcept;

}  // namespace simple_torch::dlpack
