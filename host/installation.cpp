#include "host/installation.h"

#include <unistd.h>

#include <filesystem>

namespace spl {

namespace fs = std::filesystem;

namespace {

std::string& embedded_library() {
  static std::string path;
  return path;
}

std::string own_file() {
  if (is_embedded()) {
    return embedded_library();
  }
  char buffer[4096];
  const ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer);
  return length <= 0 ? "./simple" : std::string(buffer, static_cast<size_t>(length));
}

}  // namespace

bool is_embedded() { return !embedded_library().empty(); }

void set_embedded(const std::string& library) { embedded_library() = library; }

const std::string& installation_folder() {
  static const std::string folder = fs::path(own_file()).parent_path().parent_path().string();
  return folder;
}

}  // namespace spl
