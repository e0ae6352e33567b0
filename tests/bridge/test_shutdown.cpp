// Start-up and shutdown of processes that embed Python.
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

struct Outcome {
  int code;
  std::string output;
};

/// Runs the exit program with these environment settings (`NAME=value …`, or none).
Outcome run_program(const std::string& how, const std::string& settings = "") {
  const std::string command = "timeout 60 env " + settings + " '" EXIT_PROGRAM "' '" + how + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  Outcome outcome{};
  std::array<char, 4096> buffer{};
  for (size_t count = 0; (count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.output.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return outcome;
}

/// A temporary folder that the destructor removes.
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

class RandomExit : public testing::TestWithParam<int> {};

// Guards the order of the steps at shutdown for combinations of the states below: a wrong order crashes,
// deadlocks or loses output for some of them only.
TEST_P(RandomExit, IsCleanWithEverythingFlushed) {
  const int count = round_trips::count() == 1'000'000 ? 50 : 1;
  for (int seed = GetParam() * count; seed < (GetParam() + 1) * count; ++seed) {
    const Outcome outcome = run_program("random " + std::to_string(seed));
    EXPECT_EQ(outcome.code, 3) << "seed " << seed << ": " << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("printed")) << "seed " << seed;
    EXPECT_THAT(outcome.output, HasSubstr("exit function ran")) << "seed " << seed;
  }
}

// Twenty instances of one exit each, or of 50 in the long tests.
INSTANTIATE_TEST_SUITE_P(Shutdown, RandomExit, testing::Range(0, 20));

class Exit : public testing::TestWithParam<const char*> {};

TEST_P(Exit, IsCleanWithEverythingFlushed) {
  const Outcome outcome = run_program(GetParam());
  EXPECT_EQ(outcome.code, 3) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("printed"));
  EXPECT_THAT(outcome.output, HasSubstr("exit function ran\n"));
}

// Each state guards one hazard of shutdown. Objects, tensors and a capsule are alive in all of them.
constexpr const char* kExitStates[] = {
    "return",                  // exit functions and flushes run without an explicit shutdown
    "exit on another thread",  // the exit handler runs on a thread that Python does not know
    "daemon thread",           // a thread of Python competes for the GIL during the exit
    "thread inside Python",    // a thread of the program is blocked in Python and never returns
    "python thread working",   // a non-daemon thread of Python must be joined
    "after an error",          // the kept error holds nothing that Python has to release
    "shutdown first",          // the exit handler runs after an explicit shutdown, and later calls fail
    "deleters at exit",        // DLPack deleters run in an exit function and after Python's exit work
    "deleters on a thread",    // DLPack deleters run on another thread while the bridge closes
    "objects at exit",         // static objects release Python objects after the shutdown
};

INSTANTIATE_TEST_SUITE_P(Shutdown, Exit, testing::ValuesIn(kExitStates), [](const auto& each) {
  std::string name = each.param;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

// Guards `leak_pending_releases`: static objects that released Python objects after the shutdown ran Python
// code in a closed interpreter.
TEST(Shutdown, RunsNoPythonCodeAfterShutdown) {
  EXPECT_THAT(run_program("objects at exit").output, Not(HasSubstr("too late")));
}

// Guards `threading._shutdown` in the exit work: CPython joins non-daemon threads at exit.
TEST(Shutdown, JoinsPythonThreadsAsPythonDoes) {
  EXPECT_THAT(run_program("python thread working").output, HasSubstr("work done"));
}

class Start : public PythonTest {
 protected:
  /// The environment that these tests run with: its python and torch.
  static std::string python() {
    char* path = nullptr;
    expect_ok(spt_python_path(&path));
    return take_string(path);
  }
  static std::string torch_dir() {
    char* path = nullptr;
    expect_ok(spt_torch_path(&path));
    return take_string(path);
  }
};

TEST_F(Start, FailsForAPythonWithoutTorchAndNamesTheFix) {
  const TemporaryFolder folder;
  const std::string venv = (folder.path() / "venv").string();
  ASSERT_EQ(std::system(("'" + python() + "' -m venv --without-pip '" + venv + "'").c_str()), 0);
  const Outcome outcome =
      run_program("start", "SIMPLE_TORCH='" + torch_dir() + "' SIMPLE_PYTHON='" + venv + "/bin/python'");
  EXPECT_THAT(outcome.output, HasSubstr("9 " + venv + "/bin/python has no torch; install it there"));
}

// Guards `torch_mismatch`: two copies of LibTorch in one process crash.
TEST_F(Start, FailsForAnotherTorchBeforeItIsLoaded) {
  const TemporaryFolder folder;
  const fs::path torch = folder.path() / "torch";
  fs::create_directories(torch);
  std::ofstream(torch / "__init__.py") << "raise SystemError('never to be imported')\n";
  const Outcome outcome = run_program("start", "PYTHONPATH='" + folder.path().string() + "'");
  EXPECT_THAT(outcome.output, HasSubstr("would import torch from " + fs::canonical(torch).string()));
  EXPECT_THAT(outcome.output, HasSubstr("set SIMPLE_PYTHON and SIMPLE_TORCH to the same environment"));
}

TEST_F(Start, FailsForAPythonWithoutLibpython) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "bin");
  fs::create_directories(folder.path() / "venv/bin");
  std::ofstream(folder.path() / "venv/pyvenv.cfg")
      << "home = " << (folder.path() / "bin").string() << "\nversion_info = 3.11.2\n";
  fs::create_symlink(fs::canonical(python()), folder.path() / "venv/bin/python");
  const std::string executable = (folder.path() / "venv/bin/python").string();
  const Outcome outcome =
      run_program("start", "SIMPLE_TORCH='" + torch_dir() + "' SIMPLE_PYTHON='" + executable + "'");
  EXPECT_THAT(outcome.output, HasSubstr("9 " + executable + " has no libpython3.11.so.1.0"));
}

TEST_F(Start, FailsForALibpythonThatCannotBeOpened) {
  const TemporaryFolder folder;
  const fs::path venv = folder.path() / "venv";
  fs::create_directories(venv / "bin");
  fs::create_symlink("/usr/bin/python3", venv / "bin/python");
  std::ofstream(venv / "pyvenv.cfg") << "home = " << (folder.path() / "bin").string()
                                     << "\nversion_info = 3.99.0\n";
  fs::create_directories(folder.path() / "lib");
  std::ofstream(folder.path() / "lib/libpython3.99.so.1.0") << "no library\n";
  const Outcome outcome = run_program(
      "start", "SIMPLE_TORCH='" + torch_dir() + "' SIMPLE_PYTHON='" + (venv / "bin/python").string() + "'");
  EXPECT_THAT(outcome.output, HasSubstr("9 cannot open libpython: " + folder.path().string()));
}
