// Fuzzing: no input may crash or hang the parser. The programs of the tests and of corpus/ are mutated with a
// fixed seed. Runs for 60 s if SIMPLE_LONG_TESTS is set.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/host/syntax/fuzz_parse.h"
#include "tests/host/syntax/mutations.h"

namespace spl::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongRun{60};
constexpr std::chrono::seconds kShortRun{2};
constexpr unsigned kTimeoutSeconds = 20;  // for an input of 16 KiB on a busy machine

std::vector<std::string> corpus() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(SPL_TESTS)) {
    if (entry.path().extension() == ".spl") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());  // directory order is unspecified
  std::vector<std::string> texts;
  for (const fs::path& file : files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

// The current input, for the signal handler.
std::string current;

/// Prints the input on which the parser crashed. Runs on an alternate stack because of stack overflows.
void show_input(int) {
  const auto show = [](const char* what, size_t size) {
    while (size > 0) {
      const ssize_t written = write(STDERR_FILENO, what, size);
      if (written <= 0) {
        return;
      }
      what += written;
      size -= static_cast<size_t>(written);
    }
  };
  constexpr char kTitle[] = "---- the parser fails or hangs at this input:\n";
  show(kTitle, sizeof kTitle - 1);
  show(current.data(), current.size());
  _exit(1);
}

void show_input_on_failure() {
  static char stack[1 << 16];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_handler = show_input;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGALRM}) {
    sigaction(signal, &action, nullptr);
  }
}

TEST(Fuzz, NoInputCrashesOrHangsTheParser) {
  const std::vector<std::string> programs = corpus();
  ASSERT_GT(programs.size(), 100u);
  show_input_on_failure();
  const auto parse_one = [](std::string text) {
    current = std::move(text);
    alarm(kTimeoutSeconds);
    parse_anything(current);
    alarm(0);
  };
  for (const std::string& program : programs) {
    parse_one(program);
  }
  const bool is_long = std::getenv("SIMPLE_LONG_TESTS") != nullptr;
  const auto end = Clock::now() + (is_long ? kLongRun : kShortRun);
  Mutator mutator(programs, 2026);
  size_t count = 0;
  for (; Clock::now() < end; ++count) {
    parse_one(mutator.next());
  }
  RecordProperty("inputs", static_cast<int>(count));
  EXPECT_GT(count, 100u);
}

}  // namespace
}  // namespace spl::test
