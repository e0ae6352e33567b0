// Frees what only holds itself: cycles of references, which counts alone never bring to zero.
#pragma once

#include <cstdint>

namespace spl {

/// Finds the objects that nothing outside of them holds, runs their drop() and empties them. Call it only
/// where every live value is counted, as at a safepoint. Gives how many objects were freed.
int64_t collect_cycles();

}  // namespace spl
