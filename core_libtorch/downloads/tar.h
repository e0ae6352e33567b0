// Extracts tar archives, compressed by gzip or not.
#pragma once

#include <string>

namespace simple_torch::core::downloads {

/// Extracts the archive's files and directories below `folder`. Writes each file atomically and ignores
/// owner, mode and time. Throws Error(kIo) for an archive that cannot be read, is corrupt or truncated, has a
/// name outside of the folder, or an entry that is neither a file nor a directory. Earlier entries stay
/// extracted. Format: POSIX pax Interchange Format, with GNU's long names.
void unpack_tar(const std::string& path, const std::string& folder);

}  // namespace simple_torch::core::downloads
