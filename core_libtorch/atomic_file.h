// Files that are replaced atomically.
#pragma once

#include <cstddef>
#include <string>

namespace simple_torch::core {

/// Writes to a temporary file in the same folder, which commit() renames to the path. The destructor removes
/// it if commit() did not run. The file keeps its mode, and a symbolic link keeps its target. Pipes and
/// devices are written directly.
class AtomicFile {
 public:
  /// Throws Error(kIo), which names the path, if it cannot be written.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Always returns `count`: LibTorch's writer ends the process if its destructor cannot write. commit()
  /// reports the failure.
  size_t write(const void* bytes, size_t count) noexcept;

  /// Syncs the data to the disk, then renames the file. Throws Error(kIo) for a failure here or in write().
  void commit();

 private:
  int open_file() const;
  void copy_mode() const;
  void record_errno(bool succeeded);

  std::string path_;
  std::string temporary_;  // the temporary file's path; empty for a pipe or a device
  int file_;
  int errno_ = 0;  // of the first failure
};

}  // namespace simple_torch::core
