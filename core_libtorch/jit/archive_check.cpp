#include "core_libtorch/jit/archive_check.h"

#include <caffe2/serialize/inline_container.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "core_libtorch/error.h"
#include "core_libtorch/unreadable_file.h"

namespace simple_torch::core {
namespace {

// APPNOTE.TXT of PKWARE, sections 4.3.12, 4.3.14 and 4.3.16. Numbers are little-endian.
constexpr uint32_t kEntrySignature = 0x02014b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr size_t kEntrySize = 46;
constexpr size_t kEnd64Size = 56;
constexpr size_t kEnd64LocatorSize = 20;
constexpr size_t kEndSize = 22;
constexpr uint32_t kIn64BitRecord = UINT32_MAX;

struct Record {
  std::string name;
  uint32_t checksum = 0;
};

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

// PyTorch writes no comment, so that the record is at the end of the file.
Directory directory_of(std::ifstream& file, uint64_t file_size) {
  if (file_size < kEndSize) {
    fail_broken("it is too small for an archive");
  }
  const std::string end = bytes_at(file, file_size - kEndSize, kEndSize, file_size);
  if (number_at<uint32_t>(end, 0) != kEndSignature) {
    fail_broken("it does not end as an archive does; it is truncated, or another kind of file");
  }
  Directory found{number_at<uint32_t>(end, 16), number_at<uint32_t>(end, 12)};
  if (found.offset != kIn64BitRecord || file_size < kEndSize + kEnd64LocatorSize) {
    return found;
  }
  const std::string locator =
      bytes_at(file, file_size - kEndSize - kEnd64LocatorSize, kEnd64LocatorSize, file_size);
  const std::string end64 = bytes_at(file, number_at<uint64_t>(locator, 8), kEnd64Size, file_size);
  if (number_at<uint32_t>(end64, 0) != kEnd64Signature) {
    fail_broken("the archive's directory is corrupt");
  }
  return {number_at<uint64_t>(end64, 48), number_at<uint64_t>(end64, 40)};
}

std::vector<Record> records_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto file_size = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  const auto [offset, size] = directory_of(file, file_size);
  const std::string bytes = bytes_at(file, offset, size, file_size);
  std::vector<Record> records;
  for (size_t at = 0; at < bytes.size();) {
    if (number_at<uint32_t>(bytes, at) != kEntrySignature) {
      fail_broken("the archive's directory is corrupt");
    }
    const auto name_size = number_at<uint16_t>(bytes, at + 28);
    if (at + kEntrySize + name_size > bytes.size()) {
      fail_broken("the archive's directory is truncated");
    }
    records.push_back({bytes.substr(at + kEntrySize, name_size), number_at<uint32_t>(bytes, at + 16)});
    at += kEntrySize + name_size + number_at<uint16_t>(bytes, at + 30) + number_at<uint16_t>(bytes, at + 32);
  }
  return records;
}

uint32_t checksum_of(const void* bytes, size_t size) {
  return static_cast<uint32_t>(crc32_z(0, static_cast<const Bytef*>(bytes), size));
}

void check_records(const std::string& path) {
  const std::vector<Record> records = records_of(path);
  caffe2::serialize::PyTorchStreamReader reader(path);
  if (!reader.hasRecord("constants.pkl")) {
    fail_broken("it is not a file of torch.jit.save; torch.load reads files of torch.save");
  }
  for (const Record& record : records) {
    const size_t slash = record.name.find('/');  // the archive's own name precedes it
    const std::string name = slash == std::string::npos ? record.name : record.name.substr(slash + 1);
    if (record.name.ends_with('/')) {
      continue;  // a folder
    }
    const auto [bytes, size] = reader.getRecord(name);
    if (checksum_of(bytes.get(), size) != record.checksum) {
      fail_broken("the record " + name + " is corrupt: its checksum differs");
    }
  }
}

}  // namespace

void check_script_archive(const std::string& path) {
  try {
    if (const std::string reason = why_unreadable(path); !reason.empty()) {
      fail_broken(reason);
    }
    check_records(path);
  } catch (const Error& error) {
    throw Error(error.kind(), path + " cannot be read: " + error.what());
  } catch (const c10::Error& error) {
    throw Error(ErrorKind::kIo, path + " cannot be read: " + error.what_without_backtrace());
  }
}

}  // namespace simple_torch::core
