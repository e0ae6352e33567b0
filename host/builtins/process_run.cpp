// Starts a child process, feeds its input, and reads its output until it ends.
#include "host/builtins/process_run.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "host/builtins/builtins.h"
#include "host/builtins/embedding.h"
#include "host/output.h"
#include "host/values/error.h"
#include "host/values/objects.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"

namespace spl {

namespace {

using Clock = std::chrono::steady_clock;

enum class Target : int64_t { kInherited, kCaptured, kNowhere, kOutput };

struct ChildSettings {
  std::vector<std::string> words, environment;
  std::optional<std::string> folder, input;
  bool inherits_input = false;
  std::optional<Clock::time_point> end;
  Target output = Target::kCaptured, errors = Target::kCaptured;
};

/// A pipe to or from the child.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      fail(std::string("cannot make a pipe: ") + std::strerror(errno));
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void close_reading() { close_end(0); }
  void close_writing() { close_end(1); }

 private:
  void close_end(size_t at) {
    if (ends_[at] >= 0) {
      close(ends_[at]);
    }
    ends_[at] = -1;
  }

  std::array<int, 2> ends_{-1, -1};
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

class Child {
 public:
  explicit Child(ChildSettings settings) : settings_(std::move(settings)) { start(); }
  /// A child whose caller was interrupted is ended.
  ~Child() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void run() {
    while (!is_over()) {
      {
        const Unlocked unlocked;
        exchange();
      }
      if (host_lock().wanted()) {
        safepoint();
      }
    }
  }
  int code() const { return code_; }
  Value result(int code) {
    return make_array({Value::integer(code), make_text(std::move(contents_[0])),
                       make_text(std::move(contents_[1])), Value::boolean(is_late_)});
  }

 private:
  void start() {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (settings_.input.has_value()) {
      posix_spawn_file_actions_adddup2(&actions, input_.reading(), STDIN_FILENO);
      fcntl(input_.writing(), F_SETFL, O_NONBLOCK);
    } else if (!settings_.inherits_input) {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    redirect(actions, settings_.output, outputs_[0], STDOUT_FILENO);
    redirect(actions, settings_.errors, outputs_[1], STDERR_FILENO);
    if (settings_.folder.has_value()) {
      posix_spawn_file_actions_addchdir_np(&actions, settings_.folder->c_str());
    }
    flush_output();
    const int error =
        posix_spawnp(&process_, settings_.words[0].c_str(), &actions, nullptr,
                     pointers_to(settings_.words).data(), pointers_to(settings_.environment).data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      process_ = 0;
      fail("cannot run " + settings_.words[0] + ": " + std::strerror(error));
    }
    input_.close_reading();
    if (!settings_.input.has_value()) {
      input_.close_writing();
    }
    for (size_t i = 0; i < 2; ++i) {
      outputs_[i].close_writing();
      if ((i == 0 ? settings_.output : settings_.errors) != Target::kCaptured) {
        outputs_[i].close_reading();
      }
    }
  }

  static void redirect(posix_spawn_file_actions_t& actions, Target target, const Pipe& pipe, int stream) {
    if (target == Target::kCaptured) {
      posix_spawn_file_actions_adddup2(&actions, pipe.writing(), stream);
    } else if (target == Target::kNowhere) {
      posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
    } else if (target == Target::kOutput) {
      posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, stream);
    }
  }

  /// Whether the child has ended and its output is read, or its time is over.
  bool is_over() {
    if (settings_.end.has_value() && Clock::now() >= *settings_.end) {
      is_late_ = true;
      kill(process_, SIGKILL);
      wait_for_end(0);
      return true;
    }
    return outputs_[0].reading() < 0 && outputs_[1].reading() < 0 && wait_for_end(WNOHANG);
  }

  bool wait_for_end(int options) {
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(process_, &status, options)) < 0 && errno == EINTR) {
    }
    if (ended == 0) {
      return false;
    }
    process_ = 0;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return true;
  }

  // Waits for a short time, so that an interrupt and the end of the child's time are noticed.
  void exchange() {
    std::array<pollfd, 3> entries = {{{outputs_[0].reading(), POLLIN, 0},
                                      {outputs_[1].reading(), POLLIN, 0},
                                      {input_.writing(), POLLOUT, 0}}};  // poll() ignores closed ones
    const bool is_quiet = outputs_[0].reading() < 0 && outputs_[1].reading() < 0;
    poll(entries.data(), entries.size(), is_quiet ? 1 : 50);
    for (size_t i = 0; i < 2; ++i) {
      if (entries[i].revents != 0) {
        read_some(outputs_[i], contents_[i]);
      }
    }
    if (entries[2].revents != 0) {
      write_some();
    }
  }

  static void read_some(Pipe& pipe, std::string& content) {
    std::array<char, 65536> buffer;
    const ssize_t count = read(pipe.reading(), buffer.data(), buffer.size());
    if (count > 0) {
      content.append(buffer.data(), static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      pipe.close_reading();
    }
  }

  // A child that reads no more gets no more: SIGPIPE would end this process.
  void write_some() {
    const std::string& content = *settings_.input;
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    const ssize_t count = write(input_.writing(), content.data() + written_, content.size() - written_);
    const int error = errno;
    std::signal(SIGPIPE, before);
    written_ += count > 0 ? static_cast<size_t>(count) : 0;
    const bool has_failed = count < 0 && error != EAGAIN && error != EINTR;
    if (written_ == content.size() || has_failed) {
      input_.close_writing();
    }
  }

  ChildSettings settings_;
  Pipe input_;
  std::array<Pipe, 2> outputs_;
  std::array<std::string, 2> contents_;
  size_t written_ = 0;
  pid_t process_ = 0;
  int code_ = 0;  // negative for a signal
  bool is_late_ = false;
};

void check_words(const ChildSettings& settings) {
  if (settings.words.empty()) {
    fail("process: the command must not be empty");
  }
}

}  // namespace

Value process_run(Thread&, Value* args, int) {
  ChildSettings settings;
  settings.words = texts_of(args[0], "the command");
  settings.environment = environment_with(texts_of(args[1], "the variables"));
  check_words(settings);
  Child child(std::move(settings));
  child.run();
  return child.result(child.code() < 0 ? 128 - child.code() : child.code());
}

Value process_execute(Thread&, Value* args, int) {
  const Value array = args[0];
  ChildSettings settings;
  settings.words = texts_of(element(array, 0), "the command");
  const Value environment = element(array, 1);
  settings.environment =
      environment.is_nil() ? environment_with({}) : texts_of(environment, "the environment");
  if (!element(array, 2).is_nil()) {
    settings.folder = expect_text(element(array, 2), "cwd");
  }
  settings.inherits_input = element(array, 3).is_nil();
  if (!settings.inherits_input) {
    settings.input = expect_text(element(array, 3), "input");
  }
  if (!element(array, 4).is_nil()) {
    const std::chrono::duration<double> seconds(std::clamp(to_number(element(array, 4)), 0.0, 1e9));
    settings.end = Clock::now() + std::chrono::duration_cast<Clock::duration>(seconds);
  }
  settings.output = static_cast<Target>(to_integer(element(array, 5)));
  settings.errors = static_cast<Target>(to_integer(element(array, 6)));
  check_words(settings);
  Child child(std::move(settings));
  child.run();
  return child.result(child.code());
}

}  // namespace spl
