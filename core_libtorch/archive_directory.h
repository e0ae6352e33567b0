// The list of records at the end of a zip archive, in which LibTorch checks little.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simple_torch::core {

struct ArchiveRecord {
  std::string name;
  uint32_t checksum = 0;  // CRC-32 of its bytes
};

/// Throws Error(kIo) if the list is truncated or corrupt, or if a record has the size of its content, but not
/// the content: LibTorch then returns uninitialized memory.
std::vector<ArchiveRecord> records_of_archive(const std::string& path);

}  // namespace simple_torch::core
