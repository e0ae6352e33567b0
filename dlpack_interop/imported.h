// The flags by which an export recognizes memory that DLPack imported.
#pragma once

#include <c10/core/Storage.h>

#include <cstdint>

namespace simple_torch::dlpack {

/// READ_ONLY and IS_COPIED, where the import of this storage's memory had them. READ_ONLY holds for every
/// consumer, IS_COPIED only for a sole owner.
uint64_t imported_flags(const c10::Storage& storage) noexcept;

}  // namespace simple_torch::dlpack
