#include "host/output.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "host/values/error.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"

namespace spl {

namespace {

Writer writer = nullptr;  // set once, before programs run

bool write(int stream, std::string_view text) {
  const Unlocked unlocked;  // the embedding program's streams may have their own locks
  return writer(stream, text.data(), text.size()) == 0;
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

/// Raises the error of a failed write to standard output; `errno` has the reason.
void require_written(bool is_written) {
  if (is_written) {
    return;
  }
  const int reason = errno;
  if (reason == EPIPE && sigpipe_ends_process) {
    end_by_sigpipe();
  }
  fail(std::string("print: cannot write to standard output: ") + std::strerror(reason));
}

}  // namespace

void note_pipe_signal() {
  struct sigaction current {};
  sigpipe_ends_process = sigaction(SIGPIPE, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) == 0 &&
                         current.sa_handler == SIG_DFL;
}

void set_writer(Writer function) { writer = function; }

void print_text(std::string_view text) {
  if (writer == nullptr) {
    require_written(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
  } else if (!write(1, text)) {
    fail("print: cannot write to standard output");
  } else if (is_requested(kInterruptReason)) {
    safepoint();  // the writer may have received the interrupt, and the program may end before its next
                  // safepoint
  }
}

void print_diagnostic(std::string_view text) {
  if (writer != nullptr) {
    write(2, text);
  } else {
    std::fflush(stdout);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
}

void flush_output() { require_written(std::fflush(stdout) == 0); }

}  // namespace spl
