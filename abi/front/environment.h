// The search for the PyTorch and the Python of this process. It looks at files only and runs nothing.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace simple_torch::abi {

/// The result of the search. A path is empty if nothing was found.
struct FoundEnvironment {
  std::filesystem::path python;     // the executable as named; a link of a venv is not resolved
  std::string python_minor;         // "3.11"
  std::filesystem::path torch_dir;  // holds lib/
  std::string torch_version;        // "2.15.0+cu132"
  std::string chosen_by;  // "SIMPLE_TORCH", "SIMPLE_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX", "project"
  std::string problem;    // why no PyTorch can be used, and what to do
  std::string notice;     // one line for stderr: which environment was ignored

  /// "2.15" of "2.15.0+cu132"; empty without torch.
  std::string torch_minor() const;
};

/// Reads an environment variable; "" if it is not set.
using Variables = std::function<std::string(const char* name)>;

/// Searches in the order SIMPLE_TORCH, SIMPLE_PYTHON, VIRTUAL_ENV, CONDA_PREFIX, the file
/// `simple-torch-environment` in `library_dir`. If SIMPLE_TORCH or SIMPLE_PYTHON names something without
/// PyTorch, the search ends with a problem. An active environment without a supported PyTorch is ignored with
/// a notice.
FoundEnvironment find_environment(const std::filesystem::path& library_dir, const Variables& variables);

/// The version in version.py of a package or build-version of a LibTorch folder; empty if there is none.
std::string torch_version_of(const std::filesystem::path& torch_dir);

/// Whether requirements/versions.json lists the minor version.
bool is_supported(const std::string& torch_version);

}  // namespace simple_torch::abi
