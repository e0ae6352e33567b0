// The search for PyTorch and Python.
#include "abi/front/environment.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <map>
#include <string_view>
#include <system_error>
#include <vector>

#include "supported_versions.h"

namespace simple_torch::abi {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kVersionPrefix = "__version__ = '";

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) {
    line.pop_back();
  }
  return line;
}

/// `key = value` lines, as pyvenv.cfg has them.
std::map<std::string, std::string> settings_in(const fs::path& path) {
  std::map<std::string, std::string> settings;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) {
      continue;
    }
    const auto trimmed = [](std::string_view text) {
      const size_t first = text.find_first_not_of(" \t\r");
      const size_t last = text.find_last_not_of(" \t\r");
      return first == std::string_view::npos ? std::string()
                                             : std::string(text.substr(first, last - first + 1));
    };
    settings[trimmed(std::string_view(line).substr(0, equals))] =
        trimmed(std::string_view(line).substr(equals + 1));
  }
  return settings;
}

/// "3.11" of "3.11.2"; empty if `version` does not start with two numbers.
std::string minor_of(std::string_view version) {
  const size_t first_dot = version.find('.');
  if (first_dot == std::string_view::npos || first_dot == 0) {
    return "";
  }
  size_t end = first_dot + 1;
  while (end < version.size() && std::isdigit(static_cast<unsigned char>(version[end])) != 0) {
    ++end;
  }
  return end == first_dot + 1 ? "" : std::string(version.substr(0, end));
}

/// "2.11 to 2.15".
std::string supported_range() {
  return std::string(std::begin(kSupportedTorch)[0]) + " to " + std::string(std::end(kSupportedTorch)[-1]);
}

/// 11 of "3.11"; 0 of "".
int number_of(const std::string& minor) {
  int number = 0;
  if (minor.starts_with("3.")) {
    std::from_chars(minor.data() + 2, minor.data() + minor.size(), number);
  }
  return number;
}

/// The package folders of a prefix with the Python minor of each, the newest Python first.
std::vector<std::pair<std::string, fs::path>> package_folders(const fs::path& prefix) {
  std::vector<std::pair<std::string, fs::path>> folders;
  std::error_code error;
  for (const fs::path& lib : {prefix / "lib", prefix / "local" / "lib", prefix / "lib64"}) {
    for (const auto& entry : fs::directory_iterator(lib, error)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("python3.")) {
        folders.emplace_back(name.substr(6), entry.path() / "site-packages");
        folders.emplace_back(name.substr(6), entry.path() / "dist-packages");
      }
    }
    const fs::path debian = lib / "python3" / "dist-packages";
    if (is_there(debian)) {
      folders.emplace_back("", debian);
    }
  }
  std::stable_sort(folders.begin(), folders.end(),
                   [](const auto& a, const auto& b) { return number_of(a.first) > number_of(b.first); });
  return folders;
}

/// The facts about one Python that its files show.
struct PythonFiles {
  fs::path executable;
  std::string minor;
  fs::path torch_dir;
  bool is_free_threaded = false;
};

constexpr const char* kFreeThreaded =
    "a free-threaded Python, which is not supported; use a Python of the same version with the GIL";

/// A build without the GIL has a folder of its own, such as lib/python3.13t.
bool has_only_free_threaded(const fs::path& prefix) {
  const auto folders = package_folders(prefix);
  return !folders.empty() &&
         std::ranges::all_of(folders, [](const auto& folder) { return folder.first.ends_with('t'); });
}

/// Looks for torch below `prefix`, for the minor of `python` or for any if it is unknown.
void find_torch_below(const fs::path& prefix, PythonFiles& python) {
  for (const auto& [minor, folder] : package_folders(prefix)) {
    const bool fits = python.minor.empty() || minor.empty() || minor == python.minor;
    if (fits && python.torch_dir.empty() && is_there(folder / "torch" / "lib")) {
      python.torch_dir = folder / "torch";
      if (python.minor.empty()) {
        python.minor = minor;
      }
    }
  }
}

/// "3.11" from the name of the resolved executable (python3.11) or from its lib folder.
std::string minor_from_names(const fs::path& executable) {
  std::error_code error;
  const fs::path real = fs::canonical(executable, error);
  const std::string name = error ? std::string() : real.filename().string();
  if (name.starts_with("python3.")) {
    return minor_of(std::string_view(name).substr(6));
  }
  for (const auto& [minor, folder] : package_folders(real.parent_path().parent_path())) {
    if (!minor.empty() && is_there(folder.parent_path() / "os.py")) {
      return minor;
    }
  }
  return "";
}

PythonFiles files_of(const fs::path& executable) {
  PythonFiles python{executable, "", ""};
  const fs::path prefix = executable.parent_path().parent_path();
  if (!is_there(prefix / "pyvenv.cfg")) {
    python.minor = minor_from_names(executable);
    std::error_code error;
    const fs::path real = fs::canonical(executable, error);
    const std::string name = real.filename().string();
    python.is_free_threaded = name.starts_with("python3.") && name.ends_with('t');
    find_torch_below(prefix, python);
    find_torch_below(error ? prefix : real.parent_path().parent_path(), python);
    return python;
  }
  auto settings = settings_in(prefix / "pyvenv.cfg");
  python.minor = minor_of(settings.contains("version") ? settings["version"] : settings["version_info"]);
  python.is_free_threaded = has_only_free_threaded(prefix);
  find_torch_below(prefix, python);
  if (settings["include-system-site-packages"] == "true") {
    find_torch_below(fs::path(settings["home"]).parent_path(), python);
  }
  return python;
}

/// Looks up a name without a slash in PATH, as a shell does.
fs::path executable_named(const std::string& name, const Variables& variables) {
  if (name.find('/') != std::string::npos) {
    return fs::absolute(name).lexically_normal();
  }
  const std::string path = variables("PATH");
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find(':', start), path.size());
    fs::path candidate = fs::path(path.substr(start, end - start)) / name;
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored)) {
      return candidate;
    }
    start = end + 1;
  }
  return name;
}

/// The Python of the environment whose site-packages contains the torch folder; empty for a bare LibTorch.
fs::path python_of_torch(const fs::path& torch_dir) {
  if (!torch_dir.parent_path().filename().string().ends_with("-packages")) {
    return "";
  }
  const fs::path prefix = torch_dir.parent_path().parent_path().parent_path().parent_path();
  const fs::path python = prefix / "bin" / "python3";
  return is_there(python) ? python : fs::path();
}

void use(FoundEnvironment& found, const PythonFiles& python, const std::string& chosen_by) {
  found.python = python.executable;
  found.python_minor = python.minor;
  found.torch_dir = python.torch_dir;
  found.torch_version = torch_version_of(python.torch_dir);
  found.chosen_by = chosen_by;
}

/// SIMPLE_TORCH is a folder or `off`. The Python is SIMPLE_PYTHON or that of the folder's environment.
void from_torch_folder(FoundEnvironment& found, const std::string& setting, const Variables& variables) {
  found.chosen_by = "SIMPLE_TORCH";
  if (setting == "off") {
    found.problem = "PyTorch is disabled by SIMPLE_TORCH=off";
    return;
  }
  const fs::path folder = fs::absolute(setting).lexically_normal();
  const std::string named_python = variables("SIMPLE_PYTHON");
  const fs::path python =
      named_python.empty() ? python_of_torch(folder) : executable_named(named_python, variables);
  if (!python.empty()) {
    use(found, files_of(python), "SIMPLE_TORCH");
  }
  found.torch_dir = folder;
  found.torch_version = torch_version_of(folder);
  if (!is_there(folder / "lib" / "libtorch_cpu.so") || found.torch_version.empty()) {
    found.torch_dir.clear();
    found.problem =
        "SIMPLE_TORCH: " + folder.string() +
        " is neither a torch package nor a LibTorch folder (no lib/libtorch_cpu.so, or no version)";
  }
}

/// By the name of the file itself, not of links to it.
bool is_python(const fs::path& executable) {
  std::error_code error;
  const fs::path real = fs::canonical(executable, error);
  return !error && real.filename().string().find("python") != std::string::npos &&
         fs::file_size(real, error) > 0;
}

bool is_script(const fs::path& executable) { return first_line(executable).starts_with("#!"); }

/// Environments that uv makes have no pip.
bool is_without_pip(const fs::path& executable) {
  const fs::path prefix = executable.parent_path().parent_path();
  return is_there(prefix / "pyvenv.cfg") &&
         std::ranges::none_of(package_folders(prefix),
                              [](const auto& folder) { return is_there(folder.second / "pip"); });
}

std::string command_that_installs_torch(const fs::path& executable) {
  const std::string python = executable.string();
  return is_without_pip(executable) ? "uv pip install --python " + python + " torch"
                                    : python + " -m pip install torch";
}

void from_named_python(FoundEnvironment& found, const std::string& setting, const Variables& variables) {
  const fs::path executable = executable_named(setting, variables);
  const PythonFiles files = files_of(executable);
  use(found, files, "SIMPLE_PYTHON");
  std::error_code ignored;
  if (!fs::is_regular_file(executable, ignored)) {
    found.problem =
        "SIMPLE_PYTHON: " + setting + (is_there(executable) ? " is not a program" : " does not exist");
  } else if (files.is_free_threaded) {
    found.problem = "SIMPLE_PYTHON: " + executable.string() + " is " + kFreeThreaded;
  } else if (found.torch_dir.empty()) {
    found.problem = is_script(executable)
                        ? "SIMPLE_PYTHON: " + executable.string() +
                              " is a script, such as a pyenv shim; use the Python that it starts "
                              "(`pyenv which python`)"
                    : !is_python(executable)
                        ? "SIMPLE_PYTHON: " + executable.string() + " is not a Python"
                        : "SIMPLE_PYTHON: " + executable.string() +
                              " has no PyTorch; install it: " + command_that_installs_torch(executable);
  }
}

/// Whether the active environment, which `variable` names, is used; if not, sets a notice. conda's base
/// environment is always active and is ignored without a notice.
bool from_active(FoundEnvironment& found, const char* variable, const Variables& variables) {
  const std::string prefix = variables(variable);
  if (prefix.empty()) {
    return false;
  }
  const PythonFiles python = files_of(fs::path(prefix) / "bin" / "python3");
  const std::string version = torch_version_of(python.torch_dir);
  if (is_supported(version) && !python.is_free_threaded) {
    use(found, python, variable);
    return true;
  }
  if (variables("CONDA_DEFAULT_ENV") == "base" && prefix == variables("CONDA_PREFIX")) {
    return false;
  }
  found.notice = "simple: the active environment " + prefix + " is ignored: it has " +
                 (python.is_free_threaded ? kFreeThreaded
                  : version.empty()       ? "no PyTorch"
                                    : "PyTorch " + version + "; supported versions: " + supported_range());
  return false;
}

void from_project(FoundEnvironment& found, const fs::path& library_dir) {
  const std::string python = first_line(library_dir / "simple-torch-environment");
  if (python.empty()) {
    found.problem = "no PyTorch found; `bin/simple setup` creates an environment with PyTorch";
    return;
  }
  use(found, files_of(python), "project");
  if (found.torch_dir.empty()) {
    found.problem = "the project's Python " + python + " has no PyTorch; `bin/simple setup` installs it";
  }
}

}  // namespace

std::string FoundEnvironment::torch_minor() const { return minor_of(torch_version); }

std::string torch_version_of(const fs::path& torch_dir) {
  std::ifstream file(torch_dir / "version.py");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kVersionPrefix)) {
      return line.substr(kVersionPrefix.size(),
                         line.find('\'', kVersionPrefix.size()) - kVersionPrefix.size());
    }
  }
  return first_line(torch_dir / "build-version");
}

bool is_supported(const std::string& torch_version) {
  return std::ranges::find(kSupportedTorch, minor_of(torch_version)) != std::ranges::end(kSupportedTorch);
}

FoundEnvironment find_environment(const fs::path& library_dir, const Variables& variables) {
  FoundEnvironment found;
  if (const std::string setting = variables("SIMPLE_TORCH"); !setting.empty()) {
    from_torch_folder(found, setting, variables);
  } else if (const std::string python = variables("SIMPLE_PYTHON"); !python.empty()) {
    from_named_python(found, python, variables);
  } else if (!from_active(found, "VIRTUAL_ENV", variables) &&
             !from_active(found, "CONDA_PREFIX", variables)) {
    from_project(found, library_dir);
  }
  if (!found.torch_dir.empty() && !is_supported(found.torch_version)) {
    found.problem = "PyTorch " + found.torch_version + " in " + found.torch_dir.string() +
                    " is not supported; supported versions: " + supported_range();
  }
  return found;
}

}  // namespace simple_torch::abi
