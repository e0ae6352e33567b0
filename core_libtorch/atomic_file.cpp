#include "core_libtorch/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kIo, path + " cannot be written: " + why);
}

/// The target of a symbolic link, or the path itself.
std::string target_of(const std::string& path) {
  std::error_code none;
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, none)) {
    fail_to_write(path, "no such directory: " + folder.string());
  }
  if (fs::is_directory(path, none)) {
    fail_to_write(path, "is a directory");
  }
  const fs::path target = fs::canonical(path, none);
  return none ? path : target.string();
}

bool is_replaced(const std::string& path) {
  std::error_code none;
  const auto status = fs::status(path, none);
  return !fs::exists(status) || fs::is_regular_file(status);
}

/// Unique for this writer, because others may write the same file.
std::string temporary_path(const std::string& path) {
  static std::atomic<int> count{0};
  return path + "." + std::to_string(getpid()) + "-" + std::to_string(++count) + ".part";
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path)
    : path_(target_of(path)),
      temporary_(is_replaced(path_) ? temporary_path(path_) : ""),
      file_(open_file()) {
  if (file_ < 0) {
    fail_to_write(path_, std::strerror(errno));
  }
  copy_mode();
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) {
    return;
  }
  close(file_);
  if (!temporary_.empty()) {
    std::remove(temporary_.c_str());
  }
}

size_t AtomicFile::write(const void* bytes, size_t count) noexcept {
  const auto* at = static_cast<const char*>(bytes);
  for (size_t left = count; left > 0 && errno_ == 0;) {
    const ssize_t written = ::write(file_, at, left);
    if (written >= 0) {
      at += written;
      left -= static_cast<size_t>(written);
    } else if (errno != EINTR) {
      errno_ = errno;
    }
  }
  return count;
}

void AtomicFile::commit() {
  if (!temporary_.empty()) {
    record_errno(errno_ != 0 || fsync(file_) == 0);
    record_errno(errno_ != 0 || std::rename(temporary_.c_str(), path_.c_str()) == 0);
  }
  if (errno_ != 0) {
    fail_to_write(path_, std::strerror(errno_));
  }
  close(file_);
  file_ = -1;
}

int AtomicFile::open_file() const {
  return temporary_.empty() ? open(path_.c_str(), O_WRONLY | O_CLOEXEC)
                            : open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

void AtomicFile::copy_mode() const {
  struct stat before {};
  if (!temporary_.empty() && stat(path_.c_str(), &before) == 0) {
    fchmod(file_, before.st_mode & 07777U);
  }
}

void AtomicFile::record_errno(bool succeeded) {
  if (!succeeded) {
    errno_ = errno;
  }
}

}  // namespace simple_torch::core
