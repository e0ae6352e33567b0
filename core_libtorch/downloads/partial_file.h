// The file of a download; it stays if the download does not complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace simple_torch::core::downloads {

class PartialFile {
 public:
  /// Creates the file, or opens it and keeps its content if `resumed`. Throws Error(kIo) if it cannot be
  /// written or another download, of any process, writes it.
  PartialFile(const std::string& path, bool resumed);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  int64_t size() const noexcept { return size_; }
  /// Appends. Returns false if it fails; require_written() throws the reason.
  bool append(const char* bytes, size_t count) noexcept;
  void clear();
  /// Throws Error(kIo) for a failure in append().
  void require_written() const;
  /// Syncs the file to the disk. Throws Error(kIo).
  void sync();

 private:
  [[noreturn]] void fail(int fault) const;

  std::string path_;
  int file_;
  int64_t size_ = 0;
  int fault_ = 0;
};

}  // namespace simple_torch::core::downloads
