// Tar archives, gzipped or not.
#pragma once

#include <string>

namespace simple_torch::core::downloads {

/// Puts the archive's files and folders below `folder`, each file whole or not at all, with no owner, mode
/// or time of the archive's. Throws Error(kIo) for an archive that cannot be read, is broken or truncated,
/// holds a name that leads outside of the folder, or anything that is neither file nor folder; what came
/// before that in the archive is there then. Format: POSIX pax Interchange Format, with GNU's long names.
void unpack_tar(const std::string& path, const std::string& folder);

}  // namespace simple_torch::core::downloads
