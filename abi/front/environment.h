// Which PyTorch and which Python this process uses, found by looking at files; nothing is run.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace simple_torch::abi {

/// The outcome of the search. Paths are empty where nothing was found.
struct FoundEnvironment {
  std::filesystem::path python;     // executable, as it was named (a venv's link is kept)
  std::string python_minor;         // "3.11"
  std::filesystem::path torch_dir;  // holds lib/
  std::string torch_version;        // "2.15.0+cu132"
  std::string chosen_by;  // "SIMPLE_TORCH", "SIMPLE_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX", "project"
  std::string problem;    // why torch_dir is empty, and what to do
  std::string notice;     // one line for stderr: what was passed over

  /// "2.15" of "2.15.0+cu132"; empty without torch.
  std::string torch_minor() const;
};

/// Reads an environment variable; unset and empty are the same.
using Variables = std::function<std::string(const char* name)>;

/// Searches in the order SIMPLE_TORCH, SIMPLE_PYTHON, VIRTUAL_ENV, CONDA_PREFIX, the file
/// `simple-torch-environment` in `library_dir`. The first three are wishes: when SIMPLE_TORCH or
/// SIMPLE_PYTHON names what has no PyTorch, that is the outcome, and nothing else is tried. A virtual
/// environment is passed over with a notice.
FoundEnvironment find_environment(const std::filesystem::path& library_dir, const Variables& variables);

/// The version in a package's version.py or a LibTorch folder's build-version; empty when there is none.
std::string torch_version_of(const std::filesystem::path& torch_dir);

/// Whether requirements/versions.json lists the minor version.
bool is_supported(const std::string& torch_version);

}  // namespace simple_torch::abi
