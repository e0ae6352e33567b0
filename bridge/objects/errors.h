// Python exceptions as data: fetched, described as text, and dropped, so that nothing stays pinned.
#pragma once

#include <exception>
#include <string>

#include "abi/front_backend.h"
#include "bridge/runtime/python.h"
#include "core_libtorch/error.h"

namespace simple_torch::bridge {

/// Set once, by simple_torch_bridge_open, before anything else runs.
void set_services(const abi::FrontServices* services) noexcept;
const abi::FrontServices& services() noexcept;

/// A failure as text only: it can be kept, and reported after the GIL is given back.
struct Failure {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
  std::string type;
  std::string traceback;
  std::string expected;  // of a missing module: the command that installs it
  std::string got;       // of SystemExit: its code
  int64_t requested_bytes = -1;
  int64_t available_bytes = -1;
};

/// The pending exception, normalised and with its traceback; no exception is pending afterwards. The caller
/// holds the GIL.
Ref take_exception();

/// Takes the pending Python exception. The caller holds the GIL; afterwards no exception is pending and no
/// object of it is kept.
Failure take_python_error();

/// Describes a C++ exception.
Failure to_failure(const std::exception_ptr& thrown);

/// Takes the pending Python exception into the calling thread's error record; returns its kind's number. The
/// caller holds the GIL. What ends with the exception has run its Python code before.
int32_t report_python_error();

/// The same of a C++ exception, which is gone then.
int32_t report_thrown(std::exception_ptr thrown);

/// Whether Ctrl-C came out of Python code that was to tell something of an exception on this thread: such
/// code fails without a word otherwise.
bool take_interrupt_while_telling() noexcept;
bool is_interrupted_while_telling() noexcept;

/// A Ctrl-C that has not shown as an exception.
int32_t report_interrupt() noexcept;

/// Puts the failure into the calling thread's error record; returns its kind's number.
int32_t report(const Failure& failure) noexcept;

/// The same for a failure that is no more than a kind and a message; needs no memory of ours.
int32_t report_plain(ErrorKind kind, const char* message) noexcept;

/// While Python waits for a function of Simple's on this thread: an exception that comes out of Python there
/// is kept until that function ends, as it may go on to the Python code outside. Needs the GIL.
class ExceptionsPass {
 public:
  ExceptionsPass() noexcept;
  ~ExceptionsPass();
  ExceptionsPass(const ExceptionsPass&) = delete;
  ExceptionsPass& operator=(const ExceptionsPass&) = delete;
};

/// Whether Python waits for one on this thread.
bool is_function_awaited() noexcept;

/// The last one that was kept, if its message, with or without the type before it, is this one.
Ref passing_exception(const char* message);

}  // namespace simple_torch::bridge
