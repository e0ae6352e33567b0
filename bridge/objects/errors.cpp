// Formats exceptions: kind, type, one-line message, traceback with causes.
#include "bridge/objects/errors.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bridge/objects/base_frame.h"
#include "bridge/objects/exception_types.h"
#include "bridge/runtime/backend.h"
#include "bridge/runtime/gil.h"
#include "bridge/runtime/greenlets.h"

namespace simple_torch::bridge {

constexpr size_t kMostKept = 8;  // cleanup may raise and handle other exceptions before one propagates

struct KeptException {
  Ref exception;
  std::string message;
};

/// The exceptions of one greenlet while Python waits for Simple functions there, or a program keeps them.
struct KeptExceptions {
  uint64_t greenlet;
  int callbacks = 0;
  int keepers = 0;
  std::vector<KeptException> kept;  // the last ones that Python raised
  PendingRaise to_raise;
  KeptExceptions* next;
};

namespace {

const abi::FrontServices* front_services = nullptr;

/// Whether Python would print only the type and message: no traceback, cause, context, note or sub-exception,
/// and no type for which Python prints hints.
bool is_bare(PyObject* exception, const ExceptionType& type) {
  const auto& fields = *reinterpret_cast<PyBaseExceptionObject*>(exception);
  bool has_more = type.has_details || fields.traceback != nullptr || fields.cause != nullptr ||
                  fields.context != nullptr || (fields.dict != nullptr && PyDict_GET_SIZE(fields.dict) != 0);
#if PY_VERSION_HEX >= 0x030B0000
  has_more |= fields.notes != nullptr;
#endif
  return !has_more;
}

/// Formats a bare exception as Python does.
std::string bare_text(const std::string& type, std::string_view text) {
  const size_t dot = type.find('.');
  const std::string_view module = std::string_view(type).substr(0, dot);
  std::string line = module == "builtins" || module == "__main__" ? type.substr(dot + 1) : type;
  if (!text.empty()) {
    line.append(": ").append(text);
  }
  return line;
}

/// The output of Python's traceback module, with causes, notes and groups.
std::string traceback_text(PyObject* exception) {
  const Ref helpers(PyImport_ImportModule("simple_torch_helpers.errors"));
  const Ref text(helpers ? PyObject_CallMethod(helpers.get(), "format_exception", "O", exception) : nullptr);
  if (!text) {
    discard_exception();  // out of memory or recursion limit: only the message is reported
    return "";
  }
  return text_of(text.get());
}

constexpr char kEscape = '\x1b';

bool is_one_line(std::string_view text) {
  const auto breaks = [](char c) { return c == '\n' || c == '\r' || c == kEscape; };
  return std::none_of(text.begin(), text.end(), breaks) && !text.ends_with(' ');
}

/// The size of a control sequence of terminals (CSI, ECMA-48) at the beginning of a text, such as a color; 0
/// if there is none.
size_t control_sequence_size(std::string_view text) {
  if (!text.starts_with("\x1b[")) {
    return 0;
  }
  const auto is_final = [](char c) { return c >= '@' && c <= '~'; };
  const auto* const end = std::find_if(text.begin() + 2, text.end(), is_final);
  return end == text.end() ? 0 : static_cast<size_t>(end - text.begin()) + 1;
}

/// Replaces each line break and the following indent by one space, and leaves out colors.
std::string to_one_line(std::string_view text) {
  if (is_one_line(text)) {
    return std::string(text);
  }
  std::string line;
  bool skipping = false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (const size_t size = control_sequence_size(text.substr(at)); size > 0) {
      at += size - 1;
      continue;
    }
    const char c = text[at];
    skipping = c == '\n' || c == '\r' || (skipping && (c == ' ' || c == '\t'));
    if (!skipping) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') {
    line.pop_back();
  }
  return line;
}

/// LibTorch errors arrive as RuntimeError; their kind is found from the message.
void classify_libtorch_message(const ExceptionType& type, const std::string& text, Failure& failure) {
  if (!type.is_runtime_error && failure.kind != ErrorKind::kOutOfMemory) {
    return;
  }
  MessageClass classified;
  backend_services().classify_message(text.c_str(), classified);
  if (type.is_runtime_error && static_cast<ErrorKind>(classified.kind) != ErrorKind::kTorch) {
    failure.kind = static_cast<ErrorKind>(classified.kind);
  }
  failure.expected = classified.expected;
  failure.got = classified.got;
  failure.requested_bytes = classified.requested_bytes;
  failure.available_bytes = classified.available_bytes;
}

// LibTorch's message when a writable data pointer is requested; readers in Python request one, too.
constexpr const char* kNoDataPointer = "Cannot access data pointer of Tensor (e.g. FakeTensor";

/// The package of a module that was not found; empty when the package exists but lacks that submodule.
std::string missing_package(PyObject* exception) {
  const std::string module = attribute_text(exception, "name");
  std::string package = module.substr(0, module.find('.'));
  const Ref name(PyUnicode_FromStringAndSize(package.data(), static_cast<Py_ssize_t>(package.size())));
  const Ref loaded(name ? PyImport_GetModule(name.get()) : nullptr);
  discard_exception();
  return loaded ? "" : package;
}

/// The PyPI package's name may differ from the module's.
std::string install_command(const std::string& package) {
  const Ref helpers(PyImport_ImportModule("simple_torch_helpers.packages"));
  const Ref command(helpers ? PyObject_CallMethod(helpers.get(), "install_command", "s", package.c_str())
                            : nullptr);
  discard_exception();
  return command ? text_of(command.get())
                 : std::string(services().environment->python) + " -m pip install " + package;
}

/// Adds what to do about the error.
void add_hint(PyObject* exception, const ExceptionType& type, Failure& failure) {
  if (type.is_missing_module) {
    const std::string package = missing_package(exception);
    if (!package.empty()) {
      failure.expected = install_command(package);
      failure.message += "; install it: " + failure.expected;
      if (failure.expected.ends_with(" " + package)) {
        failure.message += " (the package may have another name)";
      }
    }
  } else if (type.is_runtime_error && failure.message.find(kNoDataPointer) != std::string::npos) {
    failure.message +=
        "; a tensor on read-only memory has no writable data pointer: pass a clone(), or a "
        "simple_torch.Tensor "
        "(from_dlpack of Python's simple_torch)";
  } else if (type.is_system_exit) {
    failure.got = attribute_text(exception, "code");
  }
}

/// Those of this thread, one record for each greenlet.
thread_local KeptExceptions* all_kept = nullptr;

KeptExceptions* kept_here() noexcept {
  KeptExceptions* active = all_kept;
  if (active != nullptr) {
    for (const uint64_t greenlet = current_greenlet(); active != nullptr && active->greenlet != greenlet;) {
      active = active->next;
    }
  }
  return active;
}

/// Null when out of memory.
KeptExceptions* kept_here_or_new() noexcept {
  KeptExceptions* active = kept_here();
  if (active == nullptr) {
    active = new (std::nothrow)
        KeptExceptions{.greenlet = current_greenlet(), .kept = {}, .to_raise = {}, .next = all_kept};
    all_kept = active == nullptr ? all_kept : active;
  }
  return active;
}

/// Ends the record if nothing needs it. The destruction of exceptions may run Python code.
void end_if_unused(KeptExceptions* active) noexcept {
  if (active->callbacks != 0 || active->keepers != 0) {
    return;
  }
  KeptExceptions** link = &all_kept;
  while (*link != active) {
    link = &(*link)->next;
  }
  *link = active->next;
  delete active;
}

/// `text` is str(exception).
Failure failure_of_exception(PyObject* exception, std::string_view text) {
  Failure failure;
  ExceptionType storage;
  const ExceptionType& type = exception_type(Py_TYPE(exception), storage);
  failure.type = type.full_name;
  failure.kind = type.kind;
  const std::string line = to_one_line(text);
  failure.message.reserve(type.name.size() + 2 + line.size());
  failure.message += type.name;
  if (!line.empty()) {
    failure.message.append(": ").append(line);
  }
  // Python's traceback module takes fifty times as long.
  failure.traceback = is_bare(exception, type) ? bare_text(failure.type, text) : traceback_text(exception);
  classify_libtorch_message(type, line, failure);
  add_hint(exception, type, failure);
  keep_exception(exception, failure.message);
  return failure;
}

/// An error such as "KeyError: 1", whose traceback is the same line. It is reported without allocation, in a
/// third of the time.
class OneLineError {
 public:
  /// False, without effect, when the exception has more than one line to report.
  bool try_format(PyObject* exception, std::string_view text) {
    const ExceptionType* type = static_exception_type(Py_TYPE(exception));
    if (all_kept != nullptr || type == nullptr || !type->is_plain || !is_bare(exception, *type) ||
        !is_one_line(text) || type->name.size() + 2 + text.size() >= sizeof line_) {
      return false;
    }
    type_ = type;
    char* end = std::copy(type->name.begin(), type->name.end(), line_);
    if (!text.empty()) {
      end = std::copy(text.begin(), text.end(), std::copy_n(": ", 2, end));
    }
    *end = '\0';
    return true;
  }

  int32_t report() const noexcept {
    const abi::ErrorData data{.kind = static_cast<int32_t>(type_->kind),
                              .message = line_,
                              .op = nullptr,
                              .expected = nullptr,
                              .got = nullptr,
                              .requested_bytes = -1,
                              .available_bytes = -1,
                              .type = type_->full_name.c_str(),
                              .traceback = line_};
    services().record_error(&data);
    return data.kind;
  }

 private:
  const ExceptionType* type_ = nullptr;
  char line_[256];
};

}  // namespace

CallbackScope::CallbackScope() noexcept : active_(kept_here_or_new()) {
  if (active_ != nullptr) {
    ++active_->callbacks;
    std::swap(active_->to_raise, outer_to_raise_);
  }
}

CallbackScope::~CallbackScope() {
  if (active_ == nullptr) {
    return;
  }
  std::optional<PendingException> pending;  // the destruction of the others may run Python code
  if (may_touch_python()) {
    pending.emplace();
  }
  std::swap(active_->to_raise, outer_to_raise_);
  outer_to_raise_ = PendingRaise();
  --active_->callbacks;
  end_if_unused(active_);
}

void begin_keeping_exceptions() noexcept {
  if (KeptExceptions* active = kept_here_or_new()) {
    ++active->keepers;
  }
}

void end_keeping_exceptions() noexcept {
  KeptExceptions* active = kept_here();
  if (active == nullptr || active->keepers == 0) {
    return;  // begun on another thread, or out of memory
  }
  const PendingException pending;
  --active->keepers;
  end_if_unused(active);
}

bool is_in_callback() noexcept {
  const KeptExceptions* active = kept_here();
  return active != nullptr && active->callbacks != 0;
}

void set_pending_raise(PendingRaise pending) {
  if (KeptExceptions* active = kept_here()) {
    std::swap(active->to_raise, pending);
  }
}

PendingRaise take_pending_raise() noexcept {
  KeptExceptions* active = kept_here();
  return active == nullptr ? PendingRaise() : std::exchange(active->to_raise, PendingRaise());
}

void keep_exception(PyObject* exception, const std::string& message) {
  KeptExceptions* active = kept_here();
  if (active == nullptr) {
    return;
  }
  KeptException dropped;  // its destruction may run Python code
  if (active->kept.size() == kMostKept) {
    dropped = std::move(active->kept.front());
    active->kept.erase(active->kept.begin());
  }
  active->kept.push_back({Ref::borrowed(exception), message});
}

Ref saved_exception_for(const char* message) {
  const auto matches = [message](const KeptException& kept) {
    const std::string_view whole(kept.message);
    const size_t head = whole.find(": ");
    return whole == message || (head != std::string_view::npos && whole.substr(head + 2) == message) ||
           (head == std::string_view::npos && *message == '\0');
  };
  const KeptExceptions* active = kept_here();
  if (active == nullptr) {
    return {};
  }
  const auto found = std::find_if(active->kept.rbegin(), active->kept.rend(), matches);
  return found == active->kept.rend() ? Ref() : Ref::borrowed(found->exception.get());
}

void set_services(const abi::FrontServices* services) noexcept { front_services = services; }

const abi::FrontServices& services() noexcept { return *front_services; }

Ref take_exception() {
#if PY_VERSION_HEX >= 0x030C0000
  return Ref(PyErr_GetRaisedException());
#else
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr && value != nullptr) {
    PyException_SetTraceback(value, traceback);
  }
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return Ref(value);
#endif
}

Failure take_python_error() {
  const Ref exception = take_exception();
  if (exception) {
    return failure_of_exception(exception.get(), DisplayText(exception.get()).text());
  }
  Failure failure;
  failure.message = "a Python function returned an error without setting an exception";
  return failure;
}

Failure to_failure(const std::exception_ptr& thrown) {
  Failure failure;
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& e) {
    failure.kind = e.kind();
    failure.message = e.what();
  } catch (const std::bad_alloc&) {
    failure.kind = ErrorKind::kOutOfMemory;
    failure.message = "out of memory in a Python call";
  } catch (const std::exception& e) {
    failure.message = e.what();
  } catch (...) {
    failure.message = "unknown C++ exception in the Python bridge";
  }
  return failure;
}

/// Keeps the exception for take_last_exception(), in place of that of a nested call.
void keep_last_exception(Ref exception) {
  PythonThread& thread = *this_python_thread();
  const Ref before(std::exchange(thread.exception, exception.release()));
}

int32_t report_python_error() {
  OneLineError line;
  std::optional<Failure> failure;
  {
    Ref exception = take_exception();
    if (!exception) {
      return report_plain(ErrorKind::kInternal,
                          "a Python function returned an error without setting an exception");
    }
    remove_base_frame(exception.get());
    const DisplayText text(exception.get());
    if (has_report_interrupt()) {
      return report_interrupt();
    }
    if (!line.try_format(exception.get(), text.text())) {
      failure = failure_of_exception(exception.get(), text.text());
    }
    keep_last_exception(std::move(exception));
  }
  return failure ? report(*failure) : line.report();
}

int32_t report_thrown(std::exception_ptr thrown) {
  const Failure failure = to_failure(thrown);
  thrown = nullptr;  // destroying it, or the current Python exception, may run Python code
  discard_exception();
  return report(failure);
}

int32_t report_interrupt() noexcept {
  const abi::ErrorData data{.kind = static_cast<int32_t>(ErrorKind::kInterrupted),
                            .message = "KeyboardInterrupt",
                            .op = nullptr,
                            .expected = nullptr,
                            .got = nullptr,
                            .requested_bytes = -1,
                            .available_bytes = -1,
                            .type = "builtins.KeyboardInterrupt",
                            .traceback = nullptr};
  services().record_error(&data);
  return data.kind;
}

int32_t report(const Failure& failure) noexcept {
  const abi::ErrorData data{
      .kind = static_cast<int32_t>(failure.kind),
      .message = failure.message.c_str(),
      .op = nullptr,
      .expected = failure.expected.c_str(),
      .got = failure.got.c_str(),
      .requested_bytes = failure.requested_bytes,
      .available_bytes = failure.available_bytes,
      .type = failure.type.c_str(),
      .traceback = failure.traceback.c_str(),
  };
  services().record_error(&data);
  return data.kind;
}

int32_t report_plain(ErrorKind kind, const char* message) noexcept {
  const abi::ErrorData data{
      static_cast<int32_t>(kind), message, nullptr, nullptr, nullptr, -1, -1, nullptr, nullptr};
  services().record_error(&data);
  return data.kind;
}

}  // namespace simple_torch::bridge
