#include "core_libtorch/archive_directory.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

// APPNOTE.TXT of PKWARE, sections 4.3.12, 4.3.14 and 4.3.16. Numbers are little-endian.
constexpr uint32_t kEntrySignature = 0x02014b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr std::string_view kEndSignatureBytes = "PK\5\6";
constexpr size_t kEntrySize = 46;
constexpr size_t kEnd64Size = 56;
constexpr size_t kEnd64LocatorSize = 20;
constexpr size_t kEndSize = 22;
constexpr uint32_t kIn64BitRecord = UINT32_MAX;
constexpr uint64_t kMaxTrailingBytes = UINT16_MAX;
constexpr uint32_t kFolderAttribute = 0x10;

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
};

[[noreturn]] void fail_broken(const std::string& why) { throw Error(ErrorKind::kIo, why); }

template <class T>
T number_at(const std::string& bytes, size_t offset) {
  if (offset + sizeof(T) > bytes.size()) {
    fail_broken("the archive's directory is truncated");
  }
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string bytes_at(std::ifstream& file, uint64_t offset, uint64_t size, uint64_t file_size) {
  if (offset > file_size || size > file_size - offset) {
    fail_broken("the archive is truncated");
  }
  std::string bytes(size, '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) {
    fail_broken("the archive is truncated");
  }
  return bytes;
}

// Other bytes may follow the record, as LibTorch permits.
uint64_t end_record_of(std::ifstream& file, uint64_t file_size) {
  if (file_size < kEndSize) {
    fail_broken("it is too small for an archive");
  }
  const uint64_t searched = std::min<uint64_t>(file_size, kEndSize + kMaxTrailingBytes);
  const std::string bytes = bytes_at(file, file_size - searched, searched, file_size);
  const size_t found = bytes.rfind(kEndSignatureBytes, bytes.size() - kEndSize);
  if (found == std::string::npos) {
    fail_broken("it does not end as an archive does; it is truncated, or another kind of file");
  }
  return file_size - searched + found;
}

Directory directory_of(std::ifstream& file, uint64_t file_size) {
  const uint64_t at = end_record_of(file, file_size);
  const std::string end = bytes_at(file, at, kEndSize, file_size);
  Directory found{number_at<uint32_t>(end, 16), number_at<uint32_t>(end, 12)};
  if (found.offset != kIn64BitRecord || at < kEnd64LocatorSize) {
    return found;
  }
  const std::string locator = bytes_at(file, at - kEnd64LocatorSize, kEnd64LocatorSize, file_size);
  const std::string end64 = bytes_at(file, number_at<uint64_t>(locator, 8), kEnd64Size, file_size);
  if (number_at<uint32_t>(end64, 0) != kEnd64Signature) {
    fail_broken("the archive's directory is corrupt");
  }
  return {number_at<uint64_t>(end64, 48), number_at<uint64_t>(end64, 40)};
}

}  // namespace

std::vector<ArchiveRecord> records_of_archive(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto file_size = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  const auto [offset, size] = directory_of(file, file_size);
  const std::string bytes = bytes_at(file, offset, size, file_size);
  std::vector<ArchiveRecord> records;
  for (size_t at = 0; at < bytes.size();) {
    if (number_at<uint32_t>(bytes, at) != kEntrySignature) {
      fail_broken("the archive's directory is corrupt");
    }
    const auto name_size = number_at<uint16_t>(bytes, at + 28);
    if (at + kEntrySize + name_size > bytes.size()) {
      fail_broken("the archive's directory is truncated");
    }
    ArchiveRecord record{bytes.substr(at + kEntrySize, name_size), number_at<uint32_t>(bytes, at + 16)};
    const auto packed_size = number_at<uint32_t>(bytes, at + 20);
    const auto size = number_at<uint32_t>(bytes, at + 24);
    const bool is_folder = (number_at<uint32_t>(bytes, at + 38) & kFolderAttribute) != 0;
    if ((is_folder && !record.name.ends_with('/')) || (packed_size == 0 && size != 0)) {
      fail_broken("the archive's directory is corrupt: " + record.name + " has no content");
    }
    records.push_back(std::move(record));
    at += kEntrySize + name_size + number_at<uint16_t>(bytes, at + 30) + number_at<uint16_t>(bytes, at + 32);
  }
  return records;
}

}  // namespace simple_torch::core
