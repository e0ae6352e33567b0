#include "host/installation.h"

#include <unistd.h>

#include <filesystem>

namespace spl {

namespace fs = std::filesystem;

namespace {

std::string& guest_library() {
  static std::string path;
  return path;
}

std::string own_file() {
  if (is_guest()) {
    return guest_library();
  }
  char buffer[4096];
  const ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer);
  return length <= 0 ? "./simple" : std::string(buffer, static_cast<size_t>(length));
}

}  // namespace

bool is_guest() { return !guest_library().empty(); }

void become_guest(const std::string& library) { guest_library() = library; }

const std::string& installation_folder() {
  static const std::string folder = fs::path(own_file()).parent_path().parent_path().string();
  return folder;
}

}  // namespace spl
