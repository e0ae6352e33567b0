#include "core_libtorch/events/record_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core_libtorch/error.h"
#include "core_libtorch/events/crc32c.h"

namespace simple_torch::core::events {
namespace {

/// Little-endian on every machine.
template <class Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof(number), '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(number & 0xFF);
    number = static_cast<Number>(number >> 8);
  }
  return bytes;
}

/// 0, or the errno of an incomplete write.
int written(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

std::string record_of(std::string_view content) {
  const std::string length = bytes_of(static_cast<uint64_t>(content.size()));
  std::string record = length + bytes_of(masked_crc32c(length));
  record += content;
  return record + bytes_of(masked_crc32c(content));
}

RecordFile::RecordFile(const std::string& path)
    : path_(path), file_(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (file_ < 0) {
    fail(errno);
  }
}

RecordFile::~RecordFile() { close(file_); }

void RecordFile::append(std::string_view records) {
  const int fault = written(file_, records);
  if (fault == 0) {
    size_ += static_cast<int64_t>(records.size());
    return;
  }
  // Truncation needs no disk space. If it fails anyway, readers stop before the incomplete record.
  if (ftruncate(file_, size_) == 0) {
    lseek(file_, size_, SEEK_SET);
  }
  fail(fault);
}

void RecordFile::sync() {
  // EINVAL: a file that cannot be synced, such as a pipe.
  if (fdatasync(file_) != 0 && errno != EINVAL) {
    fail(errno);
  }
}

void RecordFile::fail(int reason) const {
  throw Error(ErrorKind::kIo, path_ + " cannot be written: " + std::strerror(reason));
}

}  // namespace simple_torch::core::events
