// Opens the libraries that SIMPLE_TORCH_RUNTIME_PATH, SIMPLE_RUNTIME_PATH, SIMPLE_SFFI_PATH and the place of the
// executable name, each once, and looks names up in them.
#include "libraries.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <vector>

#include "../values/error.h"

namespace spl {
namespace {

namespace fs = std::filesystem;

/// One attempt to open a library.
struct Attempt {
  std::string path;
  void* handle = nullptr;
  std::string error;
};

const Attempt& opened(const std::string& path) {
  static std::map<std::string, Attempt> attempts;
  const auto [place, is_new] = attempts.try_emplace(path);
  Attempt& attempt = place->second;
  if (is_new) {
    attempt.path = path;
    attempt.handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (attempt.handle == nullptr) attempt.error = dlerror();
  }
  return attempt;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> folders_of(const std::string& list) {
  std::vector<std::string> folders;
  for (size_t from = 0; from < list.size();) {
    const size_t end = std::min(list.find(':', from), list.size());
    if (end > from) folders.push_back(list.substr(from, end - from));
    from = end + 1;
  }
  return folders;
}

fs::path executable_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

/// "libspl_vision.so" for rt_vision_resize; empty where the name has no such form.
std::string own_library(const std::string& name) {
  if (!name.starts_with("rt_")) return "";
  const size_t end = name.find('_', 3);
  return end == std::string::npos || end == 3 ? "" : "libspl_" + name.substr(3, end - 3) + ".so";
}

std::vector<std::string> candidates(const std::string& library) {
  std::vector<std::string> paths;
  for (const std::string& folder : folders_of(environment("SIMPLE_SFFI_PATH"))) paths.push_back(folder + "/" + library);
  paths.push_back((executable_folder() / ".." / "lib" / library).lexically_normal().string());
  paths.push_back(library);
  return paths;
}

std::vector<std::string> places_for(const std::string& name) {
  std::vector<std::string> places;
  for (const char* variable : {"SIMPLE_TORCH_RUNTIME_PATH", "SIMPLE_RUNTIME_PATH"}) {
    if (const std::string path = environment(variable); !path.empty()) places.push_back(path);
  }
  constexpr const char* kTorch = "libspl_torch.so";
  const std::string own = own_library(name);
  if (!own.empty() && own != kTorch) {
    for (std::string& path : candidates(own)) places.push_back(std::move(path));
  }
  for (std::string& path : candidates(kTorch)) places.push_back(std::move(path));
  return places;
}

/// The loader's text, unless it only says that there is no such file.
std::string complaint(const Attempt& attempt) {
  const bool absent = attempt.error.find("No such file") != std::string::npos;
  return absent ? "no such file" : attempt.error;
}

}  // namespace

void* find_native(const std::string& name) {
  std::string searched;
  for (const std::string& path : places_for(name)) {
    const Attempt& attempt = opened(path);
    if (attempt.handle != nullptr) {
      if (void* address = dlsym(attempt.handle, name.c_str())) return address;
    }
    searched += "; " + path + ": " + (attempt.handle != nullptr ? "does not have it" : complaint(attempt));
  }
  fail("unknown extern function: " + name + searched);
}

}  // namespace spl
