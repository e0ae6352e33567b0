// Loads libpython and the bridge for the Python of the environment.
#include "abi/backend/python_library.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <vector>

#include "abi/backend/guarded.h"
#include "abi/backend/python_arguments.h"
#include "abi/fork_watch.h"
#include "core_libtorch/autograd/engine.h"
#include "core_libtorch/counted_lock.h"

namespace simple_torch::abi {
namespace {

namespace fs = std::filesystem;

constexpr auto kSharedLibrary = ".so.1.0";  // CPython's name on Linux

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The base of the environment with this `bin` folder; empty if it is not an environment.
fs::path home_of(const fs::path& bin) {
  for (const fs::path& folder : {bin, bin.parent_path()}) {
    std::ifstream config(folder / "pyvenv.cfg");
    for (std::string line; std::getline(config, line);) {
      const size_t equals = line.find('=');
      if (equals != std::string::npos && trimmed(line.substr(0, equals)) == "home") {
        return trimmed(line.substr(equals + 1));
      }
    }
  }
  return {};
}

/// The folder of the base installation's executable. Python 3.10 records another environment as the base of
/// an environment that was created from it.
fs::path base_bin(const fs::path& python) {
  constexpr int kMaxEnvironments = 10;  // an environment may name itself
  fs::path bin = python.parent_path();
  fs::path home = home_of(bin);
  if (home.empty()) {
    std::error_code ignored;
    return fs::weakly_canonical(python, ignored).parent_path();
  }
  for (int i = 0; i < kMaxEnvironments && !home.empty(); ++i) {
    bin = home;
    home = home_of(bin);
  }
  return bin;
}

/// LIBDIR in the installation's _sysconfigdata file.
fs::path configured_folder(const fs::path& standard_library) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(standard_library, ignored)) {
    if (entry.path().filename().string().rfind("_sysconfigdata_", 0) != 0) {
      continue;
    }
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const size_t key = line.find("'LIBDIR': '");
      if (key != std::string::npos) {
        const size_t start = key + std::string("'LIBDIR': '").size();
        return line.substr(start, line.find('\'', start) - start);
      }
    }
  }
  return {};
}

std::vector<fs::path> library_folders(const fs::path& prefix, const std::string& minor) {
  std::vector<fs::path> folders{prefix / "lib", prefix / "lib64"};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.find("-linux-gnu") != std::string::npos) {
      folders.push_back(entry.path());
    }
  }
  folders.push_back(configured_folder(prefix / "lib" / ("python" + minor)));
  return folders;
}

/// Whether CPython's symbols are global.
bool python_is_global() { return dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr; }

std::string python_minor_here() {
  auto* version = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  const std::string text = version != nullptr ? version() : "";
  return text.substr(0, text.find('.', text.find('.') + 1));
}

/// Throws Error(kUnavailable) for a LibTorch folder that belongs to no Python.
void require_python(const Environment& environment) {
  if (*environment.python == '\0') {
    throw Error(ErrorKind::kUnavailable,
                std::string("PyTorch in ") + environment.torch_dir +
                    " belongs to no Python; set SIMPLE_PYTHON to a Python with PyTorch " +
                    environment.torch_version);
  }
  if (*environment.python_minor == '\0') {
    throw Error(ErrorKind::kUnavailable, std::string("cannot determine the version of ") +
                                             environment.python +
                                             "; set SIMPLE_PYTHON to a Python of version 3.10 or later");
  }
}

/// Makes libpython's symbols global. Returns the opened file, "" if the process already had Python.
std::string open_libpython() {
  const Environment& environment = *services().environment;
  const std::string minor = environment.python_minor;
  require_python(environment);
  const std::string name = "libpython" + minor + kSharedLibrary;
  // A libpython that was loaded with RTLD_LOCAL becomes global: a second copy would be a second Python.
  if (!python_is_global()) {
    dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  }
  if (python_is_global()) {
    if (python_minor_here() != minor) {
      throw Error(ErrorKind::kUnavailable, "the process runs Python " + python_minor_here() + ", but " +
                                               environment.python + " is Python " + minor +
                                               "; set SIMPLE_PYTHON to a Python of the same version");
    }
    return "";
  }
  std::string file = find_libpython(environment.python, minor);
  if (file.empty()) {
    throw Error(ErrorKind::kUnavailable,
                std::string(environment.python) + " has no " + name + "; install it (Debian: libpython" +
                    minor + "), or use a Python that was built with " +
                    "--enable-shared (pyenv: PYTHON_CONFIGURE_OPTS=--enable-shared pyenv install)");
  }
  if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    throw Error(ErrorKind::kUnavailable, std::string("cannot open libpython: ") + dlerror());
  }
  return file;
}

struct Opened {
  bridge::BridgeApi api{};
  std::string libpython;
  std::array<int64_t, std::size(bridge::BridgeApi{}.immortals)>
      immortal{};  // handles of the bridge's immortal objects
};

std::atomic<const Opened*> opened{nullptr};
std::atomic<bool> is_abandoned{false};  // the process was forked while another thread opened the bridge

void abandon_opening() { is_abandoned.store(opened.load() == nullptr); }

/// Throws Error(kUnavailable) in a forked child whose parent was opening the bridge in another thread.
void require_opening() {
  if (is_abandoned.load()) {
    throw Error(ErrorKind::kUnavailable,
                "cannot call Python: this process was forked while another thread was starting Python; fork "
                "before or after the first call of Python");
  }
}

std::atomic<const bridge::BridgeApi*> running{nullptr};

/// The bridge for the torch and the Python of the environment. Throws Error(kUnavailable) if it is not built.
std::string find_bridge(const Environment& environment) {
  std::string tag = environment.python_minor;
  tag.erase(tag.find('.'), 1);
  std::string file = std::string(environment.library_dir) + "/libsimple_torch_bridge-" +
                     environment.torch_minor + ".cpython-" + tag + ".so";
  if (!fs::exists(file)) {
    throw Error(ErrorKind::kUnavailable, "no bridge for torch " + std::string(environment.torch_minor) +
                                             " and Python " + environment.python_minor + ": " + file +
                                             " is missing; build it: SIMPLE_PYTHON=" + environment.python +
                                             " bin/simple build");
  }
  return file;
}

/// Opens the library that the bridge needs by path: an installed bridge does not know where torch is. If that
/// fails, the dynamic linker searches for it.
void open_torch_python(const Environment& environment) {
  const fs::path file = fs::path(environment.torch_dir) / "lib" / "libtorch_python.so";
  dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// Opens both. The caller holds the lock on opening. No Python code runs here, so the GIL is not needed.
const Opened* open_bridge() {
  auto result = std::make_unique<Opened>();
  result->libpython = open_libpython();
  const std::string file = find_bridge(*services().environment);
  open_torch_python(*services().environment);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(ErrorKind::kUnavailable, std::string("cannot open the Python bridge: ") + dlerror());
  }
  auto* open =
      reinterpret_cast<decltype(&simple_torch_bridge_open)>(dlsym(library, "simple_torch_bridge_open"));
  if (open == nullptr || open(&services(), bridge::kBridgeVersion, &result->api) != 0) {
    throw Error(ErrorKind::kUnavailable,
                file + " was built from other sources; rebuild it: bin/simple build");
  }
  result->api.use(&kBackendServices);
  for (size_t i = 0; i < result->immortal.size(); ++i) {
    result->immortal[i] = handles().insert_immortal(PythonRef(result->api.immortals[i]));
  }
  core::set_thread_preparation(result->api.register_thread);
  services().set_coroutine_function(result->api.current_greenlet);
  return result.release();  // for the rest of the process
}

}  // namespace

std::string find_libpython(const std::string& python, const std::string& minor) {
  const fs::path prefix = base_bin(python).parent_path();
  std::error_code ignored;
  for (const fs::path& folder : library_folders(prefix, minor)) {
    const fs::path file = folder / ("libpython" + minor + kSharedLibrary);
    if (!folder.empty() && fs::exists(file, ignored)) {
      return file.string();
    }
  }
  return "";
}

const bridge::BridgeApi* opened_python() noexcept {
  const Opened* bridge = opened.load(std::memory_order_acquire);
  return bridge != nullptr ? &bridge->api : nullptr;
}

std::string opened_libpython() {
  const Opened* bridge = opened.load(std::memory_order_acquire);
  return bridge != nullptr ? bridge->libpython : "";
}

int64_t immortal_handle(const bridge::Object* object) noexcept {
  const Opened& here = *opened.load(std::memory_order_relaxed);
  for (size_t i = 0; i < here.immortal.size(); ++i) {
    if (here.api.immortals[i] == object) {
      return here.immortal[i];
    }
  }
  return 0;
}

const bridge::BridgeApi* running_python() noexcept { return running.load(std::memory_order_acquire); }

void forget_running_python() noexcept { running.store(nullptr, std::memory_order_release); }

int32_t start_python(const bridge::BridgeApi** out) {
  static std::mutex& opening = *new std::mutex;
  if (opened_python() == nullptr) {
    require_opening();
    const ForkWatch<abandon_opening> watch;
    const core::CountedLockGuard lock(opening);
    if (opened_python() == nullptr) {
      opened.store(open_bridge(), std::memory_order_release);
    }
  }
  *out = opened_python();
  const int32_t status = (*out)->start();
  if (status == 0) {
    running.store(*out, std::memory_order_release);
  }
  return status;
}

}  // namespace simple_torch::abi
