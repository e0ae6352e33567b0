#include "host/output.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "host/values/error.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"

namespace spl {

namespace {

Writer writer = nullptr;  // set once, before programs run
std::atomic<WriterSource> writer_source{nullptr};

int write(Writer to, int stream, std::string_view text) {
  const Unlocked unlocked;  // the streams may have their own locks
  return to(stream, text.data(), text.size());
}

/// Of the embedding program, or of a library that has replaced the stream; null for the process's own stream.
Writer writer_of(int stream) {
  const WriterSource source = writer_source.load(std::memory_order_relaxed);
  return writer != nullptr || source == nullptr ? writer : source(stream);
}

enum class Written { kYes, kNo, kNotHere };

Written write_elsewhere(int stream, std::string_view text) {
  const Writer to = writer_of(stream);
  const int status = to == nullptr ? -1 : write(to, stream, text);
  return status == 0 ? Written::kYes : status == -1 && writer == nullptr ? Written::kNotHere : Written::kNo;
}

bool sigpipe_ends_process = false;  // set once, before programs run

/// Ends the process as a write to a closed pipe does where SIGPIPE has its default action.
void end_by_sigpipe() {
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr);
  raise(SIGPIPE);
}

int lost_output = 0;  // errno of a flush that failed where no error could be raised

std::string write_failure(const char* function, const char* stream, int reason) {
  return std::string(function) + ": cannot write to standard " + stream + ": " +
         (reason == 0 ? "an earlier write failed" : std::strerror(reason));
}

/// Whether text was dropped after a failed flush, by this file or by another one, such as Python's at a fork.
bool has_lost_output() { return lost_output != 0 || std::ferror(stdout) != 0; }

/// Raises the error of a failed write; `errno` has the reason.
void require_written(bool is_written, const char* function = "print", const char* stream = "output") {
  if (is_written) {
    return;
  }
  const int reason = errno;
  if (reason == EPIPE && sigpipe_ends_process) {
    end_by_sigpipe();
  }
  fail(write_failure(function, stream, reason));
}

void require_no_loss() {
  if (has_lost_output()) {
    std::clearerr(stdout);
    errno = std::exchange(lost_output, 0);
    require_written(false);
  }
}

}  // namespace

void note_pipe_signal() {
  struct sigaction current {};
  sigpipe_ends_process = sigaction(SIGPIPE, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) == 0 &&
                         current.sa_handler == SIG_DFL;
}

void set_writer(Writer function) { writer = function; }
void set_writer_source(WriterSource source) { writer_source.store(source); }

void print_text(std::string_view text) {
  switch (write_elsewhere(1, text)) {
    case Written::kNotHere:
      require_no_loss();
      require_written(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
      return;
    case Written::kNo:
      fail("print: cannot write to standard output");
    case Written::kYes:
      if (is_requested(kInterruptReason)) {
        safepoint();  // the writer may have received the interrupt, and the program may end before its next
                      // safepoint
      }
  }
}

void print_error_text(std::string_view text) {
  if (write_elsewhere(2, text) == Written::kNotHere) {
    flush_output();
    require_written(std::fwrite(text.data(), 1, text.size(), stderr) == text.size(), "eprint", "error");
  }
}

void print_diagnostic(std::string_view text) {
  if (write_elsewhere(2, text) == Written::kNotHere) {
    flush_or_note();
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
}

void flush_output() {
  require_no_loss();
  require_written(std::fflush(stdout) == 0);
}

void flush_or_note() {
  if (std::fflush(stdout) != 0) {
    lost_output = errno;
  }
}

int flush_at_end(int code) {
  flush_or_note();
  if (lost_output == EPIPE && sigpipe_ends_process) {
    end_by_sigpipe();
  }
  if (code != 0 || !has_lost_output()) {
    return code;
  }
  std::fputs(("error: " + write_failure("print", "output", lost_output) + "\n").c_str(), stderr);
  return 1;
}

}  // namespace spl
