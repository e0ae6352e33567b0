// Whether memory may be copied on its way.
#pragma once

#include <cstdint>

namespace simple_torch::dlpack {

/// As the array standard's `copy=` says: False, None, True.
enum class CopyRule : int32_t { kNever, kIfNeeded, kAlways };

}  // namespace simple_torch::dlpack
