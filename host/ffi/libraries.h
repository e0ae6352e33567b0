// Where native functions live: the shared libraries that are searched, and in which order.
#pragma once

#include <string>

namespace spl {

/// The address of the function, from libspl_<lib>.so for a name rt_<lib>_…, else from libspl_torch.so. Fails with
/// the name and every place that was searched.
void* find_native(const std::string& name);

}  // namespace spl
