// Search for native functions in shared libraries.
#include "host/ffi/libraries.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "host/installation.h"
#include "host/output.h"

namespace spl {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> split(const char* list) {
  std::vector<std::string> parts;
  std::istringstream input(list == nullptr ? "" : list);
  for (std::string part; std::getline(input, part, ':');) {
    if (!part.empty()) {
      parts.push_back(part);
    }
  }
  return parts;
}

std::string library_folder() { return installation_folder() + "/lib"; }

/// Opens each library once and records the attempts.
class Libraries {
 public:
  void* find(const std::string& symbol) {
    tried_.clear();
    for (const std::string& library : candidates(symbol)) {
      void* handle = open(library);
      if (handle == nullptr) {
        continue;
      }
      if (void* address = dlsym(handle, symbol.c_str())) {
        return address;
      }
    }
    return nullptr;
  }
  const std::string& tried() const { return tried_; }

  /// The first definition of the symbol in an open library; null if none has it.
  void* find_in_open(const char* symbol) const {
    for (const auto& [path, handle] : handles_) {
      void* address = handle == nullptr ? nullptr : dlsym(handle, symbol);
      if (address != nullptr) {
        return address;
      }
    }
    return nullptr;
  }

  void notify_of_exit() {
    for (const auto& [path, handle] : handles_) {
      void* listener = handle == nullptr ? nullptr : dlsym(handle, "spl_program_ends");
      if (listener != nullptr && notified_.insert(listener).second) {
        reinterpret_cast<void (*)()>(listener)();
      }
    }
  }

 private:
  static std::vector<std::string> candidates(const std::string& symbol) {
    std::vector<std::string> names;
    if (symbol.starts_with("rt_")) {
      const size_t end = symbol.find('_', 3);
      if (end != std::string::npos) {
        names.push_back("libspl_" + symbol.substr(3, end - 3) + ".so");
      }
    }
    if (names.empty() || names.back() != "libspl_torch.so") {
      names.emplace_back("libspl_torch.so");
    }
    std::vector<std::string> paths;
    for (const char* variable : {"SIMPLE_TORCH_RUNTIME_PATH", "SIMPLE_RUNTIME_PATH"}) {
      if (const char* file = std::getenv(variable); file != nullptr && *file != 0) {
        paths.emplace_back(file);
      }
    }
    for (const std::string& folder : split(std::getenv("SIMPLE_SFFI_PATH"))) {
      for (const std::string& name : names) {
        paths.push_back(std::string(folder).append("/").append(name));
      }
    }
    for (const std::string& name : names) {
      paths.push_back(library_folder() + "/" + name);
    }
    paths.insert(paths.end(), names.begin(), names.end());
    return paths;
  }

  void* open(const std::string& path) {
    const auto [found, added] = handles_.emplace(path, nullptr);
    std::string note = path;
    if (added) {
      found->second = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
      if (found->second == nullptr) {
        const char* reason = dlerror();
        reasons_[path] = reason == nullptr ? "cannot be opened" : reason;
      } else if (void* source = dlsym(found->second, "spl_output_writer")) {
        set_writer_source(reinterpret_cast<WriterSource>(source));
      }
    }
    if (found->second == nullptr && fs::exists(path)) {
      note += " (" + reasons_[path] + ")";
    } else if (found->second == nullptr) {
      note += " (not found)";
    }
    tried_ += "\n  " + note;
    return found->second;
  }

  std::map<std::string, void*> handles_;
  std::map<std::string, std::string> reasons_;
  std::set<void*> notified_;
  std::string tried_;
};

Libraries& libraries() {
  static Libraries& all = *new Libraries;  // never destroyed: other threads may use it at exit
  return all;
}

std::atomic<uint64_t (*)()> coroutine_function{nullptr};

}  // namespace

FoundSymbol find_native(const std::string& symbol) {
  void* address = libraries().find(symbol);
  return {address, libraries().tried()};
}

void notify_libraries_of_exit() { libraries().notify_of_exit(); }

void find_coroutines() {
  if (coroutine_function.load() == nullptr) {
    coroutine_function.store(
        reinterpret_cast<uint64_t (*)()>(libraries().find_in_open("spl_current_coroutine")));
  }
}

uint64_t current_coroutine() {
  uint64_t (*const function)() = coroutine_function.load();
  return function == nullptr ? 0 : function();
}

void* open_library_named(const std::string& name, int flags) {
  const int usable = (flags & (RTLD_LAZY | RTLD_NOW)) == 0 ? flags | RTLD_LAZY : flags;
  if (name.find('/') == std::string::npos) {
    if (void* handle = dlopen((library_folder() + "/" + name).c_str(), usable)) {
      return handle;
    }
  }
  return dlopen(name.c_str(), usable);
}

}  // namespace spl
