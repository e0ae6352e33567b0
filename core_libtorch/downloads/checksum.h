// Checksums of files, as md5sum and sha256sum print them.
#pragma once

#include <string>

namespace simple_torch::core::downloads {

/// The checksum in lower-case hexadecimal digits. `kind` is md5 or sha256. Throws Error(kInvalidArgument) for
/// another kind, Error(kIo) if the file cannot be read.
std::string checksum_of_file(const std::string& path, const std::string& kind);

}  // namespace simple_torch::core::downloads
