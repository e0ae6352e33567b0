// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <string>

namespace simple_torch::core {

/// What is written lies beside the wanted file until take_place(), and is removed where that is not reached.
/// The file keeps its mode, and a link leads on to its target; pipes and devices are written into as they
/// are.
class AtomicFile {
 public:
  /// Throws Error(kIo), which names the path, where it cannot be written.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Gives `count` always: LibTorch's writer ends the process where its destructor cannot write, so it is
  /// never told of a fault; take_place() tells.
  size_t write(const void* bytes, size_t count) noexcept;

  /// On the disk first, then under its name. Throws Error(kIo) for what failed here or in write().
  void take_place();

 private:
  int opened() const;
  void keep_mode() const;
  void note_fault(bool done);

  std::string path_;
  std::string own_;  // of the file beside; empty for a pipe or a device
  int file_;
  int fault_ = 0;
};

}  // namespace simple_torch::core
