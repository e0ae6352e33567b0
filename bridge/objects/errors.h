// Python exceptions as data: fetched, formatted as strings, and dropped, so that no object stays alive.
#pragma once

#include <exception>
#include <string>

#include "abi/front_backend.h"
#include "bridge/runtime/python.h"
#include "core_libtorch/error.h"

namespace simple_torch::bridge {

/// Called once, by simple_torch_bridge_open, before any other function.
void set_services(const abi::FrontServices* services) noexcept;
const abi::FrontServices& services() noexcept;

/// An error as strings only: it can be stored, and reported after the GIL is released.
struct Failure {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
  std::string type;
  std::string traceback;
  std::string expected;  // for a missing module: the command that installs it
  std::string got;       // for SystemExit: its code
  int64_t requested_bytes = -1;
  int64_t available_bytes = -1;
};

/// Fetches the current exception, normalized and with its traceback, and clears it. The caller holds the GIL.
Ref take_exception();

/// Fetches, describes and drops the current Python exception. The caller holds the GIL.
Failure take_python_error();

/// Describes a C++ exception.
Failure to_failure(const std::exception_ptr& thrown);

/// These are never inlined into the calls that fail, which they would slow down by their size.
///
/// Moves the current Python exception into the calling thread's error record; returns its kind. The caller
/// holds the GIL. The exception is destroyed, which may run Python code, before the record is filled.
[[gnu::noinline]] int32_t report_python_error();

/// The same for a C++ exception, which is destroyed.
[[gnu::noinline, gnu::cold]] int32_t report_thrown(std::exception_ptr thrown);

/// Whether a KeyboardInterrupt was raised while an exception was described on this thread. Other errors of
/// such code are ignored.
bool take_report_interrupt() noexcept;
bool has_report_interrupt() noexcept;

/// Records an interrupt that did not appear as an exception.
[[gnu::noinline, gnu::cold]] int32_t report_interrupt() noexcept;

/// Fills the calling thread's error record; returns the error's kind.
int32_t report(const Failure& failure) noexcept;

/// The same for a kind and a message only; allocates nothing.
[[gnu::noinline, gnu::cold]] int32_t report_plain(ErrorKind kind, const char* message) noexcept;

struct KeptExceptions;

/// What the failing Simple function of this thread and greenlet raises when it returns.
struct PendingRaise {
  Ref exception;              // empty: the program exits
  bool is_interrupt = false;  // KeyboardInterrupt instead of the exception
};

/// Active while Python waits for a Simple function on this thread and greenlet. The last exceptions raised by
/// Python below that function are kept until the function returns, so that one of them can propagate to the
/// Python caller unchanged. Needs the GIL.
class CallbackScope {
 public:
  CallbackScope() noexcept;
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

 private:
  KeptExceptions* active_;       // NULL when out of memory: no exception is kept
  PendingRaise outer_to_raise_;  // of the function that called Python again, such as in its cleanup
};

/// Keeps exceptions as a CallbackScope does, until as many calls have ended it on this thread and greenlet.
/// Needs the GIL.
void begin_keeping_exceptions() noexcept;
void end_keeping_exceptions() noexcept;

/// Whether Python waits for a Simple function on this thread and greenlet.
bool is_in_callback() noexcept;

/// Keeps what the innermost function raises, in place of an earlier one, whose destruction may run Python
/// code. Has no effect outside a callback.
void set_pending_raise(PendingRaise pending);

/// Takes it. Empty when there is none.
PendingRaise take_pending_raise() noexcept;

/// Keeps an exception that Python raised below a Simple function, with the message of the Simple error. Has
/// no effect outside a callback.
void keep_exception(PyObject* exception, const std::string& message);

/// The last kept exception whose message, with or without the leading type, is `message`; else empty.
Ref saved_exception_for(const char* message);

}  // namespace simple_torch::bridge
