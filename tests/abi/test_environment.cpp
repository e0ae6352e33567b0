// The search for PyTorch, in folders that the test creates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "abi/front/environment.h"
#include "supported_versions.h"

namespace {

namespace fs = std::filesystem;
using simple_torch::abi::find_environment;
using simple_torch::abi::FoundEnvironment;
using simple_torch::abi::kSupportedTorch;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr auto kProgram = "the bytes of a Python executable";

class Environment : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("simple-environments-" + std::to_string(getpid()));
    fs::create_directories(root_ / "lib");
  }
  void TearDown() override { fs::remove_all(root_); }

  static void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  /// A virtual environment, with torch unless the version is empty.
  fs::path environment(const std::string& name, const std::string& torch_version) {
    fs::path prefix = root_ / name;
    write(prefix / "bin" / "python3", kProgram);
    write(prefix / "pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n");
    fs::create_directories(prefix / "lib" / "python3.11" / "site-packages");
    if (!torch_version.empty()) {
      make_torch(prefix / "lib" / "python3.11" / "site-packages" / "torch", torch_version);
    }
    return prefix;
  }
  /// A Python installation with torch, not a virtual environment.
  fs::path installation(const std::string& name, const std::string& minor, const std::string& torch_version) {
    fs::path prefix = root_ / name;
    write(prefix / "bin" / ("python" + minor), kProgram);
    fs::create_symlink("python" + minor, prefix / "bin" / "python3");
    make_torch(prefix / "lib" / ("python" + minor) / "site-packages/torch", torch_version);
    return prefix;
  }
  static void make_torch(const fs::path& folder, const std::string& version) {
    write(folder / "version.py",
          "from typing import Optional\n__version__ = '" + version + "'\ndebug = False\n");
    write(folder / "lib" / "libtorch_cpu.so", "");
  }

  FoundEnvironment found() {
    return find_environment(root_ / "lib", [this](const char* name) { return variables_[name]; });
  }

  fs::path root_;
  std::map<std::string, std::string> variables_;
};

TEST_F(Environment, SimpleTorchOffDisablesPyTorch) {
  variables_["SIMPLE_TORCH"] = "off";
  EXPECT_EQ(found().torch_dir, "");
  EXPECT_THAT(found().problem, HasSubstr("PyTorch is disabled by SIMPLE_TORCH=off"));
}

TEST_F(Environment, SimpleTorchSelectsTheTorchAndItsPython) {
  const fs::path prefix = environment("a", "2.15.0+cu132");
  variables_["SIMPLE_TORCH"] = prefix / "lib" / "python3.11" / "site-packages" / "torch";
  EXPECT_EQ(found().torch_version, "2.15.0+cu132");
  EXPECT_EQ(found().torch_minor(), "2.15");
  EXPECT_EQ(found().python, prefix / "bin" / "python3");
  EXPECT_EQ(found().python_minor, "3.11");
  EXPECT_EQ(found().problem, "");
}

TEST_F(Environment, SimpleTorchAcceptsABareLibTorchFolder) {
  write(root_ / "libtorch" / "build-version", "2.12.1+cpu\n");
  write(root_ / "libtorch" / "lib" / "libtorch_cpu.so", "");
  variables_["SIMPLE_TORCH"] = root_ / "libtorch";
  EXPECT_EQ(found().torch_minor(), "2.12");
  EXPECT_EQ(found().python, "");
}

TEST_F(Environment, SimplePythonPrecedesAnActiveEnvironment) {
  variables_["SIMPLE_PYTHON"] = environment("named", "2.11.0") / "bin" / "python3";
  variables_["VIRTUAL_ENV"] = environment("active", "2.15.0");
  EXPECT_EQ(found().torch_version, "2.11.0");
  EXPECT_EQ(found().chosen_by, "SIMPLE_PYTHON");
}

TEST_F(Environment, ANamedPythonWithoutTorchIsAProblemWithInstructions) {
  const fs::path prefix = environment("bare", "");
  const std::string python = (prefix / "bin" / "python3").string();
  variables_["SIMPLE_PYTHON"] = python;
  EXPECT_EQ(found().torch_dir, "");
  EXPECT_THAT(found().problem, HasSubstr("has no PyTorch"));
  EXPECT_THAT(found().problem, EndsWith("install it: uv pip install --python " + python + " torch"))
      << "as uv makes it";
  fs::create_directories(prefix / "lib" / "python3.11" / "site-packages" / "pip");
  EXPECT_THAT(found().problem, EndsWith("install it: " + python + " -m pip install torch"));
}

TEST_F(Environment, AFreeThreadedPythonIsRejectedByName) {
  const fs::path prefix = root_ / "free";
  write(prefix / "bin" / "python3", kProgram);
  write(prefix / "pyvenv.cfg", "home = /usr/bin\nversion = 3.13.9\n");
  make_torch(prefix / "lib" / "python3.13t" / "site-packages" / "torch", "2.15.0");
  variables_["SIMPLE_PYTHON"] = prefix / "bin" / "python3";
  EXPECT_THAT(found().problem, HasSubstr("python3 is a free-threaded Python, which is not supported"));
  variables_["SIMPLE_PYTHON"] = installation("base", "3.14t", "2.15.0") / "bin" / "python3";
  EXPECT_THAT(found().problem, HasSubstr("is a free-threaded Python, which is not supported"));
  variables_.erase("SIMPLE_PYTHON");
  variables_["VIRTUAL_ENV"] = prefix;
  EXPECT_THAT(found().notice, HasSubstr("is ignored: it has a free-threaded Python"));
}

TEST_F(Environment, ANamedProgramThatIsNotAPythonIsRejected) {
  const fs::path bin = environment("bare", "") / "bin";
  write(bin / "ls", kProgram);
  write(bin / "python3.12", "");
  for (const char* name : {"ls", "python3.12"}) {
    variables_["SIMPLE_PYTHON"] = bin / name;
    EXPECT_THAT(found().problem, EndsWith(std::string(name) + " is not a Python"));
  }
}

TEST_F(Environment, APythonWithoutASlashIsFoundInPath) {
  variables_["SIMPLE_PYTHON"] = "python3";
  variables_["PATH"] = "/nonexistent:" + (environment("onpath", "2.15.0") / "bin").string();
  EXPECT_EQ(found().torch_version, "2.15.0");
}

TEST_F(Environment, AnActiveEnvironmentPrecedesTheProjects) {
  variables_["VIRTUAL_ENV"] = environment("active", "2.13.0");
  write(root_ / "lib" / "simple-torch-environment", environment("own", "2.15.0") / "bin" / "python3");
  EXPECT_EQ(found().torch_version, "2.13.0");
  EXPECT_EQ(found().notice, "");
}

TEST_F(Environment, AnActiveEnvironmentWithoutASupportedTorchIsIgnoredWithANotice) {
  write(root_ / "lib" / "simple-torch-environment",
        (environment("own", "2.15.0") / "bin" / "python3").string() + "\n");
  variables_["VIRTUAL_ENV"] = environment("none", "");
  EXPECT_EQ(found().chosen_by, "project");
  EXPECT_THAT(found().notice, HasSubstr("is ignored: it has no PyTorch"));
  variables_["VIRTUAL_ENV"] = environment("old", "2.4.1");
  EXPECT_EQ(found().torch_version, "2.15.0");
  EXPECT_THAT(found().notice,
              HasSubstr("PyTorch 2.4.1; supported versions: " + std::string(kSupportedTorch[0])));
}

TEST_F(Environment, AnActiveCondaEnvironmentIsUsed) {
  variables_["CONDA_PREFIX"] = installation("conda/envs/work", "3.12", "2.14.0");
  EXPECT_EQ(found().chosen_by, "CONDA_PREFIX");
  EXPECT_EQ(found().torch_version, "2.14.0");
  EXPECT_EQ(found().python_minor, "3.12");
  variables_["VIRTUAL_ENV"] = environment("within", "2.13.0");
  EXPECT_EQ(found().chosen_by, "VIRTUAL_ENV");
}

TEST_F(Environment, CondasBaseWithoutTorchIsIgnoredSilently) {
  write(root_ / "lib" / "simple-torch-environment", environment("own", "2.15.0") / "bin" / "python3");
  write(root_ / "conda/bin/python3", "");
  variables_["CONDA_PREFIX"] = root_ / "conda";
  EXPECT_THAT(found().notice, HasSubstr("is ignored"));
  variables_["CONDA_DEFAULT_ENV"] = "base";
  EXPECT_EQ(found().notice, "");
  EXPECT_EQ(found().chosen_by, "project");
}

TEST_F(Environment, APyenvShimIsRejected) {
  write(root_ / "pyenv/shims/python3", "#!/usr/bin/env bash\nexec pyenv exec python3\n");
  variables_["SIMPLE_PYTHON"] = root_ / "pyenv/shims/python3";
  EXPECT_THAT(found().problem, HasSubstr("is a script, such as a pyenv shim"));
  EXPECT_THAT(found().problem, HasSubstr("pyenv which python"));
}

TEST_F(Environment, APyenvInstallationIsRecognized) {
  variables_["SIMPLE_PYTHON"] = installation("pyenv/versions/3.10.14", "3.10", "2.11.0") / "bin" / "python3";
  EXPECT_EQ(found().python_minor, "3.10");
  EXPECT_EQ(found().torch_version, "2.11.0");
}

TEST_F(Environment, AnUnsupportedTorchThatIsNamedIsAProblem) {
  variables_["SIMPLE_PYTHON"] = environment("old", "2.4.1") / "bin" / "python3";
  EXPECT_THAT(found().problem, HasSubstr("PyTorch 2.4.1"));
  EXPECT_THAT(found().problem, HasSubstr("is not supported"));
}

TEST_F(Environment, NoEnvironmentRecommendsSetup) {
  EXPECT_THAT(found().problem, HasSubstr("bin/simple setup"));
}

}  // namespace
