#include "core_libtorch/onnx/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core_libtorch/error.h"
#include "core_libtorch/unreadable_file.h"

namespace simple_torch::core::onnx {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kIo, "cannot read '" + path + "': " + why);
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const std::string why = why_unreadable(path);
  if (!why.empty()) {
    fail(path, why);
  }
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) {
    fail(path, std::strerror(errno));
  }
  size_ = static_cast<size_t>(status.st_size);
  if (size_ > 0) {
    data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  }
  const int error = errno;
  close(file);
  if (data_ == MAP_FAILED) {
    fail(path, std::strerror(error));
  }
}

MappedFile::~MappedFile() {
  if (size_ > 0) {
    munmap(data_, size_);
  }
}

}  // namespace simple_torch::core::onnx
