// Whether an import may copy memory.
#pragma once

#include <cstdint>

namespace simple_torch::dlpack {

/// The values of the array API's `copy=`: False, None, True.
enum class CopyRule : int32_t { kNever, kIfNeeded, kAlways };

}  // namespace simple_torch::dlpack
