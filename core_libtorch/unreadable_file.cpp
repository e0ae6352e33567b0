#include "core_libtorch/unreadable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace simple_torch::core {

std::string why_unreadable(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe without a writer
  if (file < 0) {
    return std::strerror(errno);
  }
  struct stat status {};
  const bool is_directory = fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
  close(file);
  return is_directory ? std::strerror(EISDIR) : "";
}

}  // namespace simple_torch::core
