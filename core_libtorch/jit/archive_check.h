// Verifies a TorchScript archive before LibTorch reads it, which checks neither sizes nor checksums.
#pragma once

#include <string>

namespace simple_torch::core {

/// Reads every record once. Throws Error(kIo), which names the path and the record, if the file is not
/// TorchScript or is truncated, or if a record differs from its CRC-32.
void check_script_archive(const std::string& path);

}  // namespace simple_torch::core
