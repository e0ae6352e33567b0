// A file of records in TensorFlow's framing: length, checksum of the length, data, checksum of the data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace simple_torch::core::events {

/// The bytes of one record in such a file.
std::string record_of(std::string_view content);

/// A new file that grows by complete records.
class RecordFile {
 public:
  /// Throws Error(kIo), which names the path, if it cannot be created or already exists.
  explicit RecordFile(const std::string& path);
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Passes the data to the operating system. If a write fails, truncates the file to the last complete
  /// record and throws Error(kIo).
  void append(std::string_view records);

  /// Syncs the file to the disk. Throws Error(kIo).
  void sync();

 private:
  [[noreturn]] void fail(int reason) const;

  std::string path_;
  int file_;
  int64_t size_ = 0;  // of the complete records
};

}  // namespace simple_torch::core::events
