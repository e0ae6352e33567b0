// Checksums of files, as md5sum and sha256sum print them.
#pragma once

#include <string>

namespace simple_torch::core::downloads {

/// In lower-case hexadecimal digits. `kind` is md5 or sha256: throws Error(kInvalidArgument) for another,
/// Error(kIo) where the file cannot be read.
std::string checksum_of_file(const std::string& path, const std::string& kind);

}  // namespace simple_torch::core::downloads
