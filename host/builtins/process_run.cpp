// Starts a child process with two pipes and reads both until they are closed.
#include "host/builtins/process_run.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "host/builtins/builtins.h"
#include "host/values/error.h"
#include "host/values/objects.h"
#include "host/vm/lock.h"

namespace spl {

namespace {

/// An output stream of the child: the pipe and the content so far.
class Stream {
 public:
  Stream() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      fail(std::string("cannot make a pipe: ") + std::strerror(errno));
    }
    reading_ = ends[0];
    writing_ = ends[1];
  }
  ~Stream() {
    close_writing();
    close_reading();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int writing() const { return writing_; }
  void close_writing() { close_end(writing_); }
  pollfd poll_entry() const { return {reading_, POLLIN, 0}; }
  bool open() const { return reading_ >= 0; }
  std::string& content() { return content_; }

  void read_some() {
    std::array<char, 65536> buffer;
    const ssize_t count = read(reading_, buffer.data(), buffer.size());
    if (count > 0) {
      content_.append(buffer.data(), static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      close_reading();
    }
  }

 private:
  void close_reading() { close_end(reading_); }
  static void close_end(int& end) {
    if (end >= 0) {
      close(end);
    }
    end = -1;
  }

  int reading_ = -1, writing_ = -1;
  std::string content_;
};

std::vector<std::string> texts_of(Value array, const char* what) {
  if (!array.is(Kind::kArray)) {
    fail(std::string(what) + " must be an array of text");
  }
  std::vector<std::string> texts;
  for (const Value item : as_object<Array>(array)->items) {
    texts.push_back(expect_text(item, what));
  }
  return texts;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// The added variables come first, because getenv() returns the first match.
std::vector<std::string> environment_with(std::vector<std::string> variables) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    variables.emplace_back(*entry);
  }
  return variables;
}

pid_t start(std::vector<std::string> words, std::vector<std::string> environment, Stream& out, Stream& err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.writing(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.writing(), STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, words[0].c_str(), &actions, nullptr, pointers_to(words).data(),
                                 pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    fail("cannot run " + words[0] + ": " + std::strerror(error));
  }
  return child;
}

void read_all(Stream& out, Stream& err) {
  while (out.open() || err.open()) {
    std::array<pollfd, 2> entries = {out.poll_entry(), err.poll_entry()};  // poll() ignores closed ones
    if (poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) {
      return;
    }
    if (entries[0].revents != 0) {
      out.read_some();
    }
    if (entries[1].revents != 0) {
      err.read_some();
    }
  }
}

int code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Value process_run(Thread&, Value* args, int) {
  const std::vector<std::string> words = texts_of(args[0], "the command");
  if (words.empty()) {
    fail("rt_process_run: command must not be empty");
  }
  Stream out, err;
  const pid_t child = start(words, environment_with(texts_of(args[1], "the variables")), out, err);
  out.close_writing();
  err.close_writing();
  int code = 0;
  {
    const Unlocked unlocked;
    read_all(out, err);
    code = code_of(child);
  }
  return make_array(
      {Value::integer(code), make_text(std::move(out.content())), make_text(std::move(err.content()))});
}

}  // namespace spl
