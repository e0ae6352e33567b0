// The mark by which an export knows memory that came in by DLPack.
#pragma once

#include <c10/core/Storage.h>

#include <cstdint>

namespace simple_torch::dlpack {

/// The flags with which the memory of this storage is to go out again: READ_ONLY where it came in so.
uint64_t imported_flags(const c10::Storage& storage) noexcept;

}  // namespace simple_torch::dlpack
