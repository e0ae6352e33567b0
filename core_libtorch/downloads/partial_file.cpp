#include "core_libtorch/downloads/partial_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core_libtorch/error.h"

namespace simple_torch::core::downloads {

PartialFile::PartialFile(const std::string& path, bool resumed)
    : path_(path), file_(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)) {
  if (file_ < 0) {
    fail(errno);
  }
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    close(file_);
    throw Error(ErrorKind::kIo,
                "'" + path + "' cannot be written: another download writes it; wait until it is complete");
  }
  size_ = lseek(file_, 0, SEEK_END);
  if (!resumed) {
    clear();
  }
}

PartialFile::~PartialFile() { close(file_); }

bool PartialFile::append(const char* bytes, size_t count) noexcept {
  while (count > 0 && fault_ == 0) {
    const ssize_t written = ::write(file_, bytes, count);
    if (written >= 0) {
      bytes += written;
      count -= static_cast<size_t>(written);
      size_ += written;
    } else if (errno != EINTR) {
      fault_ = errno;
    }
  }
  return fault_ == 0;
}

void PartialFile::clear() {
  if (ftruncate(file_, 0) != 0 || lseek(file_, 0, SEEK_SET) != 0) {
    fail(errno);
  }
  size_ = 0;
}

void PartialFile::require_written() const {
  if (fault_ != 0) {
    fail(fault_);
  }
}

void PartialFile::sync() {
  if (fsync(file_) != 0) {
    fail(errno);
  }
}

void PartialFile::fail(int fault) const {
  throw Error(ErrorKind::kIo, "'" + path_ + "' cannot be written: " + std::strerror(fault));
}

}  // namespace simple_torch::core::downloads
