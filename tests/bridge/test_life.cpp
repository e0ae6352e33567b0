// How processes with Python in them begin and end.
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "python_test.h"
#include "tests/support/round_trips.h"

using testing::HasSubstr;

namespace fs = std::filesystem;

namespace {

struct Ended {
  int code;
  std::string output;
};

/// Runs the exit program with these environment settings (`NAME=value …`, or none).
Ended run_program(const std::string& how, const std::string& settings = "") {
  const std::string command = "timeout 60 env " + settings + " '" EXIT_PROGRAM "' '" + how + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  Ended ended{};
  std::array<char, 4096> buffer{};
  for (size_t count = 0; (count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    ended.output.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return ended;
}

/// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "bridge-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

class RandomEnd : public testing::TestWithParam<int> {};

TEST_P(RandomEnd, IsCleanWithEverythingFlushed) {
  const int count = round_trips::count() == 1'000'000 ? 50 : 1;
  for (int seed = GetParam() * count; seed < (GetParam() + 1) * count; ++seed) {
    const Ended ended = run_program("random " + std::to_string(seed));
    EXPECT_EQ(ended.code, 3) << "seed " << seed << ": " << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("printed")) << "seed " << seed;
    EXPECT_THAT(ended.output, HasSubstr("exit function ran")) << "seed " << seed;
  }
}

// Twenty parts of one end each, or of 50 in the long tests.
INSTANTIATE_TEST_SUITE_P(Life, RandomEnd, testing::Range(0, 20));

class Exit : public testing::TestWithParam<const char*> {};

TEST_P(Exit, IsCleanWithEverythingFlushed) {
  const Ended ended = run_program(GetParam());
  EXPECT_EQ(ended.code, 3) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("printed"));
  EXPECT_THAT(ended.output, HasSubstr("exit function ran\n"));
}

INSTANTIATE_TEST_SUITE_P(Life, Exit,
                         testing::Values("return", "exit on another thread", "daemon thread",
                                         "thread inside Python", "python thread at work", "after an error",
                                         "shutdown first", "deleters at the end", "deleters on a thread",
                                         "objects at the end"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

TEST(Life, RunsNoCodeOfPythonsAfterItsEnd) {
  EXPECT_THAT(run_program("objects at the end").output, Not(HasSubstr("too late")));
}

TEST(Life, WaitsForPythonsThreadsAsPythonDoes) {
  EXPECT_THAT(run_program("python thread at work").output, HasSubstr("work done"));
}

class Start : public PythonTest {
 protected:
  /// The environment that these tests run with: its python and torch.
  static std::string python() {
    char* path = nullptr;
    expect_ok(spt_python_path(&path));
    return taken(path);
  }
  static std::string torch_dir() {
    char* path = nullptr;
    expect_ok(spt_torch_path(&path));
    return taken(path);
  }
};

TEST_F(Start, OfAPythonWithoutTorchIsRefusedAndSaysHowToMendIt) {
  const TemporaryFolder folder;
  const std::string venv = (folder.path() / "venv").string();
  ASSERT_EQ(std::system(("'" + python() + "' -m venv --without-pip '" + venv + "'").c_str()), 0);
  const Ended ended =
      run_program("start", "SIMPLE_TORCH='" + torch_dir() + "' SIMPLE_PYTHON='" + venv + "/bin/python'");
  EXPECT_THAT(ended.output, HasSubstr("9 " + venv + "/bin/python has no torch; install it there"));
}

TEST_F(Start, OfAPythonWithAnotherTorchIsRefusedBeforeItIsLoaded) {
  const TemporaryFolder folder;
  const fs::path torch = folder.path() / "torch";
  fs::create_directories(torch);
  std::ofstream(torch / "__init__.py") << "raise SystemError('never to be imported')\n";
  const Ended ended = run_program("start", "PYTHONPATH='" + folder.path().string() + "'");
  EXPECT_THAT(ended.output, HasSubstr("would import torch from " + fs::canonical(torch).string()));
  EXPECT_THAT(ended.output, HasSubstr("let SIMPLE_PYTHON and SIMPLE_TORCH name the same environment"));
}

TEST_F(Start, OfAPythonWithoutLibpythonIsRefused) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "bin");
  fs::create_directories(folder.path() / "venv/bin");
  std::ofstream(folder.path() / "venv/pyvenv.cfg")
      << "home = " << (folder.path() / "bin").string() << "\nversion_info = 3.11.2\n";
  fs::create_symlink(fs::canonical(python()), folder.path() / "venv/bin/python");
  const std::string executable = (folder.path() / "venv/bin/python").string();
  const Ended ended =
      run_program("start", "SIMPLE_TORCH='" + torch_dir() + "' SIMPLE_PYTHON='" + executable + "'");
  EXPECT_THAT(ended.output, HasSubstr("9 " + executable + " has no libpython3.11.so.1.0"));
}

TEST_F(Start, OfALibpythonThatCannotBeOpenedIsRefused) {
  const TemporaryFolder folder;
  const fs::path venv = folder.path() / "venv";
  fs::create_directories(venv / "bin");
  fs::create_symlink("/usr/bin/python3", venv / "bin/python");
  std::ofstream(venv / "pyvenv.cfg") << "home = " << (folder.path() / "bin").string()
                                     << "\nversion_info = 3.99.0\n";
  fs::create_directories(folder.path() / "lib");
  std::ofstream(folder.path() / "lib/libpython3.99.so.1.0") << "no library\n";
  const Ended ended = run_program(
      "start", "SIMPLE_TORCH='" + torch_dir() + "' SIMPLE_PYTHON='" + (venv / "bin/python").string() + "'");
  EXPECT_THAT(ended.output, HasSubstr("9 cannot open libpython: " + folder.path().string()));
}
