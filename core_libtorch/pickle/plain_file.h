// Reads files of Python's pickle.dump, which are not in an archive.
#pragma once

#include <string>

#include "core_libtorch/pickle/value.h"

namespace simple_torch::core::pickle {

/// The file's value, of protocols 2 to 5; strings of Python 2 are Latin-1. Runs no code of the file. Throws
/// Error(kIo) if the file cannot be read, is corrupt or has unsupported contents.
ValuePtr load_plain(const std::string& path);

}  // namespace simple_torch::core::pickle
