// Opens LibTorch and the backend at the first call that needs them, or records why that fails.
#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "abi/fork_watch.h"
#include "abi/front/environment.h"
#include "abi/front/errors.h"
#include "abi/front/slots.h"
#include "simple_torch/c_api.h"

namespace simple_torch::abi {
namespace fs = std::filesystem;
namespace {

/// The folder of libspl_torch.so, which also contains the backends and bridges. Determined when the library
/// is loaded: the path by which it was opened may be relative, and the process may change its directory.
/// Never destroyed, because calls may come during exit.
const fs::path& library_dir = *[] {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&open_backend), &info) == 0 || info.dli_fname == nullptr) {
    return new fs::path(".");
  }
  std::error_code error;
  const fs::path file = fs::weakly_canonical(info.dli_fname, error);
  return new fs::path(error ? fs::path(info.dli_fname).parent_path() : file.parent_path());
}();

std::atomic<bool> is_open{false};
// Set by open_backend() and close_backend(); never freed, because calls may come during exit.
std::atomic<std::string*> why_absent{nullptr};

template <class Target, class Source>
void publish(Target* target, const Source* source) {
  auto* to = reinterpret_cast<void**>(target);
  auto* from = reinterpret_cast<void* const*>(source);
  for (size_t i = 0; i < sizeof(Source) / sizeof(void*); ++i) {
    __atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
  }
}

std::atomic<bool> is_decided{false};    // whether the library could be opened
std::atomic<bool> is_abandoned{false};  // the process was forked while another thread was opening

/// In a forked child: the thread that was opening does not exist, and may have held any lock.
void abandon_opening() {
  if (is_decided.load()) {
    return;
  }
  why_absent = new std::string(
      "this process was forked while another thread was opening LibTorch; fork before or after the first "
      "call");
  publish(&table, &kAbsentBackend);
  is_abandoned.store(true);
}

/// While one lives, its thread opens the library or finds the environment, or waits for another that does.
using OpeningScope = ForkWatch<abandon_opening>;

/// The environment, and its plain copy for the backend. Created once, never destroyed.
struct Discovery {
  fs::path libraries;
  FoundEnvironment found;
  std::string torch_minor;
  std::string python_text;
  std::string torch_text;
  std::string libraries_text;
  Environment plain{};
};

std::atomic<const Discovery*> discovered{nullptr};

const Discovery& discovery() {
  if (const Discovery* const known = discovered.load()) {
    return *known;
  }
  const OpeningScope opening;
  static const Discovery& once = *[] {
    auto* made = new Discovery;
    made->libraries = library_dir;
    made->found = find_environment(made->libraries, [](const char* name) {
      const char* value = std::getenv(name);
      return std::string(value == nullptr ? "" : value);
    });
    if (!made->found.notice.empty()) {
      std::fprintf(stderr, "%s\n", made->found.notice.c_str());
    }
    made->torch_minor = made->found.torch_minor();
    made->python_text = made->found.python.string();
    made->torch_text = made->found.torch_dir.string();
    made->libraries_text = made->libraries.string();
    made->plain = {made->python_text.c_str(), made->found.python_minor.c_str(),
                   made->torch_text.c_str(),  made->found.torch_version.c_str(),
                   made->torch_minor.c_str(), made->libraries_text.c_str()};
    return made;
  }();
  discovered.store(&once);
  return once;
}

/// The path of the loaded library whose file name begins with `name`; empty without one.
std::string loaded_library(const char* name) {
  std::pair<const char*, std::string> search(name, "");
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& [prefix, path] = *static_cast<std::pair<const char*, std::string>*>(data);
        if (info->dlpi_name != nullptr && fs::path(info->dlpi_name).filename().string().starts_with(prefix)) {
          path = info->dlpi_name;
        }
        return path.empty() ? 0 : 1;
      },
      &search);
  return search.second;
}

/// Why the LibTorch in `torch_dir` must not be opened in addition to a loaded one; empty if it may.
std::string second_copy(const fs::path& torch_dir) {
  const std::string mapped = loaded_library("libtorch_cpu.so");
  std::error_code error;
  if (mapped.empty() || fs::equivalent(mapped, torch_dir / "lib" / "libtorch_cpu.so", error)) {
    return "";
  }
  return "the process has loaded another LibTorch (" + mapped + ") than that of the environment (" +
         (torch_dir / "lib" / "libtorch_cpu.so").string() +
         "); two copies in one process corrupt each other. Set SIMPLE_TORCH to the folder of the loaded one";
}

/// Opens LibTorch by path, so that the backend uses this copy whatever its own RPATH is.
std::string open_libtorch(const fs::path& torch_dir) {
  for (const char* name : {"libtorch_global_deps.so", "libc10.so", "libtorch_cpu.so", "libtorch.so"}) {
    const fs::path file = torch_dir / "lib" / name;
    // libtorch_global_deps only loads thread and CUDA libraries, which must be visible to all libraries. A
    // LibTorch folder may not have it.
    const bool global = std::strcmp(name, "libtorch_global_deps.so") == 0;
    std::error_code error;
    if (global && !fs::exists(file, error)) {
      continue;
    }
    if (dlopen(file.c_str(), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL)) == nullptr) {
      return std::string("cannot open LibTorch: ") + dlerror();
    }
  }
  return "";
}

/// The command that builds the backend for the environment.
std::string build_command(const Discovery& known) {
  if (known.found.chosen_by == "project") {
    return "bin/simple setup --torch " + known.torch_minor;
  }
  if (known.python_text.empty()) {
    return "SIMPLE_PYTHON=PYTHON bin/simple build, where PYTHON is a Python with torch " + known.torch_minor;
  }
  return "SIMPLE_PYTHON=" + known.python_text + " bin/simple build";
}

/// What to do if there is no backend for the environment: an installed package cannot build one.
std::string how_to_get_backend(const Discovery& known) {
  std::error_code error;
  std::set<std::string> minors;
  for (const auto& entry : fs::directory_iterator(known.libraries, error)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view kPrefix = "libsimple_torch_backend-";
    if (name.starts_with(kPrefix) && name.ends_with(".so")) {
      minors.insert(name.substr(kPrefix.size(), name.size() - kPrefix.size() - std::strlen(".so")));
    }
  }
  std::string found;
  for (const std::string& minor : minors) {
    found += (found.empty() ? "" : ", ") + minor;
  }
  const bool is_build = fs::exists(known.libraries / "simple-torch-environment", error) || found.empty();
  return is_build ? "build it: " + build_command(known)
                  : "this installation has backends for PyTorch " + found;
}

std::atomic<uint64_t (*)()> coroutine_function{nullptr};
std::array<std::atomic<SplOutputWriter>, 2> output_writers{};  // of standard output and standard error

using OpenFunction = decltype(simple_torch_backend_open);

/// Opens the backend for the environment's LibTorch and fills `filled`. Returns the error message, or "".
std::string open_found(const Discovery& known, BackendTable& filled) {
  if (!known.found.problem.empty()) {
    return known.found.problem;
  }
  const fs::path backend = known.libraries / ("libsimple_torch_backend-" + known.torch_minor + ".so");
  std::error_code error;
  if (!fs::exists(backend, error)) {
    return "PyTorch " + known.found.torch_version + " was found in " + known.torch_text +
           ", but there is no backend for it (" + backend.string() + "); " + how_to_get_backend(known);
  }
  if (const std::string other = loaded_library("libsimple_torch_backend-"); !other.empty()) {
    return "another copy of libspl_torch.so in this process has opened " + other +
           "; a process can use one copy: open the same file everywhere";
  }
  if (std::string problem = second_copy(known.found.torch_dir); !problem.empty()) {
    return problem;
  }
  if (std::string problem = open_libtorch(known.found.torch_dir); !problem.empty()) {
    return problem;
  }
  void* library = dlopen(backend.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* open = library == nullptr
                   ? nullptr
                   : reinterpret_cast<OpenFunction*>(dlsym(library, "simple_torch_backend_open"));
  if (open == nullptr) {
    return std::string("cannot open the backend: ") + dlerror();
  }
  static const FrontServices kServices{
      kFrontBackendVersion,
      record_error,
      &known.plain,
      {spl_array_new, spl_array_push, spl_array_free, spl_str_new, spl_interrupt_service()},
      close_backend,
      [](uint64_t (*function)()) { coroutine_function.store(function); },
      [](int stream, SplOutputWriter writer) { output_writers.at(stream == 1 ? 0 : 1).store(writer); }};
  if (open(&kServices, kTableFingerprint, &filled) != 0) {
    return spt_last_error_message();
  }
  return "";
}

std::once_flag opened;

}  // namespace

void close_backend() {
  why_absent = new std::string("the process is exiting and has destroyed LibTorch's static objects");
  is_open.store(false);
  publish(&table, &kAbsentBackend);
}

void open_backend() {
  if (is_decided.load() || is_abandoned.load()) {
    return;
  }
  const OpeningScope opening;
  std::call_once(opened, [] {
    BackendTable filled = kAbsentBackend;
    // Static: close_backend() replaces the other pointer to it.
    static auto* const problem = new std::string(open_found(discovery(), filled));
    why_absent = problem;
    publish(&table, problem->empty() ? &filled : &kAbsentBackend);
    is_open.store(problem->empty());
    is_decided.store(true);
  });
}

int32_t report_unavailable() noexcept { return record_error(ErrorKind::kUnavailable, *why_absent.load()); }

}  // namespace simple_torch::abi

namespace {

using simple_torch::abi::Discovery;
using simple_torch::abi::discovery;
using simple_torch::abi::open_backend;
using simple_torch::abi::why_absent;

template <class Out>
int32_t store(Out* out, auto&& make) {
  if (out == nullptr) {
    return simple_torch::abi::record_error(simple_torch::ErrorKind::kInvalidArgument, "out is NULL");
  }
  if (simple_torch::abi::is_abandoned.load()) {
    return simple_torch::abi::report_unavailable();
  }
  *out = make();
  return 0;
}

}  // namespace

extern "C" {

void spl_program_ends(void) {
  if (simple_torch::abi::is_open.load()) {
    spt_event_writers_flush();
    spt_py_shutdown();
  }
}

uint64_t spl_current_coroutine(void) {
  uint64_t (*const function)() = simple_torch::abi::coroutine_function.load();
  return function == nullptr ? 0 : function();
}

SplOutputWriter spl_output_writer(int stream) {
  return simple_torch::abi::output_writers.at(stream == 1 ? 0 : 1).load();
}

int32_t spt_available(bool* out) {
  return store(out, [] {
    open_backend();
    return why_absent.load()->empty();
  });
}

int32_t spt_why_unavailable(char** out) {
  return store(out, [] {
    open_backend();
    return simple_torch::abi::copy_of(*why_absent.load());
  });
}

int32_t spt_torch_path(char** out) {
  return store(out, [] { return simple_torch::abi::copy_of(discovery().torch_text); });
}

int32_t spt_python_path(char** out) {
  return store(out, [] { return simple_torch::abi::copy_of(discovery().python_text); });
}

int32_t spt_environment_text(char** out) {
  return store(out, [] {
    const Discovery& known = discovery();
    return simple_torch::abi::copy_of(
        "chosen by: " + known.found.chosen_by + "\npython: " + known.python_text +
        "\npython minor: " + known.found.python_minor + "\ntorch: " + known.torch_text +
        "\ntorch version: " + known.found.torch_version + "\nlibraries: " + known.libraries_text +
        "\nproblem: " + known.found.problem);
  });
}

}  // extern "C"
