// The cycle collector.
#pragma once

#include <cstdint>

namespace spl {

/// Frees objects that only hold each other; runs their drop(). Call it only where every live reference is
/// counted, such as at a safepoint. Returns the number of freed objects.
int64_t collect_cycles();

}  // namespace spl
