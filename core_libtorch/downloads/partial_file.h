// A file that a download fills, and that stays when the download does not come to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace simple_torch::core::downloads {

class PartialFile {
 public:
  /// Made if it is not there; what it holds stays if `kept`. Throws Error(kIo) where it cannot be written,
  /// or another download, of this process or another, writes it.
  PartialFile(const std::string& path, bool kept);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  int64_t size() const noexcept { return size_; }
  /// At the end. False where it cannot be written; require_written() says why.
  bool append(const char* bytes, size_t count) noexcept;
  void clear();
  /// Throws Error(kIo) for what failed in append().
  void require_written() const;
  /// Returns when the disk has it. Throws Error(kIo).
  void sync();

 private:
  [[noreturn]] void fail(int fault) const;

  std::string path_;
  int file_;
  int64_t size_ = 0;
  int fault_ = 0;
};

}  // namespace simple_torch::core::downloads
