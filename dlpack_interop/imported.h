// The mark by which an export knows memory that came in by DLPack.
#pragma once

#include <c10/core/Storage.h>

#include <cstdint>

namespace simple_torch::dlpack {

/// READ_ONLY and IS_COPIED, where the memory of this storage came in so. The first holds for all who get it,
/// the second for one who gets it alone.
uint64_t imported_flags(const c10::Storage& storage) noexcept;

}  // namespace simple_torch::dlpack
