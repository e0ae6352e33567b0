// A file of records as TensorFlow frames them: length, checksum of the length, bytes, checksum of the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace simple_torch::core::events {

/// The bytes of one record in such a file.
std::string record_of(std::string_view content);

/// A new file that grows by whole records.
class RecordFile {
 public:
  /// Throws Error(kIo), which names the path, where it cannot be made or is there already.
  explicit RecordFile(const std::string& path);
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// With the system on return. Throws Error(kIo) where not all could be written; what was is taken away
  /// again, so that the file ends with the last whole record.
  void append(std::string_view records);

  /// On the disk on return. Throws Error(kIo).
  void sync();

 private:
  [[noreturn]] void fail(int reason) const;

  std::string path_;
  int file_;
  int64_t size_ = 0;  // of the whole records
};

}  // namespace simple_torch::core::events
