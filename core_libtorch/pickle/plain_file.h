// Files of Python's pickle.dump, without an archive round them.
#pragma once

#include <string>

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// What the file holds, of protocols 2 to 5; texts of Python 2 are Latin-1. Nothing of it is run. Throws
/// Error(kIo) where the file cannot be read, is broken, or holds something else.
ValuePtr load_plain(const std::string& path);

}  // namespace simple_torch::core::pickle
