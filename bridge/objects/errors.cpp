// Exceptions to text: kind, type, one-line message, traceback with causes.
#include "bridge/objects/errors.h"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "bridge/objects/exception_types.h"
#include "bridge/runtime/backend.h"

namespace simple_torch::bridge {
namespace {

const abi::FrontServices* given_services = nullptr;

/// Whether Python would show no more of it than its type and message: it passed no Python code, has no cause,
/// no context, no note and no part, and is none of those that Python has hints for.
bool is_bare(PyObject* exception, const ExceptionType& type) {
  const auto& fields = *reinterpret_cast<PyBaseExceptionObject*>(exception);
  bool has_more = type.shows_more || fields.traceback != nullptr || fields.cause != nullptr ||
                  fields.context != nullptr || (fields.dict != nullptr && PyDict_GET_SIZE(fields.dict) != 0);
#if PY_VERSION_HEX >= 0x030B0000
  has_more |= fields.notes != nullptr;
#endif
  return !has_more;
}

/// As Python shows an exception that is bare.
std::string bare_text(const std::string& type, std::string_view text) {
  const size_t dot = type.find('.');
  const std::string_view module = std::string_view(type).substr(0, dot);
  std::string shown = module == "builtins" || module == "__main__" ? type.substr(dot + 1) : type;
  if (!text.empty()) {
    shown.append(": ").append(text);
  }
  return shown;
}

/// The full text that Python's own traceback module gives, with causes, notes and groups.
std::string traceback_text(PyObject* exception) {
  const Ref helpers(PyImport_ImportModule("simple_torch_helpers.errors"));
  const Ref text(helpers ? PyObject_CallMethod(helpers.get(), "format_exception", "O", exception) : nullptr);
  if (!text) {
    pass_over_exception();  // out of memory, or too deep in recursion: the message must do
    return "";
  }
  return text_of(text.get());
}

bool is_one_line(std::string_view text) {
  const auto breaks = [](char c) { return c == '\n' || c == '\r'; };
  return std::none_of(text.begin(), text.end(), breaks) && !text.ends_with(' ');
}

/// Line breaks and the indents after them become one blank: a message is one line.
std::string on_one_line(std::string_view text) {
  if (is_one_line(text)) {
    return std::string(text);
  }
  std::string line;
  bool skipping = false;
  for (const char c : text) {
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

/// What LibTorch has said comes as a RuntimeError, whatever it is about.
void explain_words_of_libtorch(const ExceptionType& type, const std::string& text, Failure& failure) {
  if (!type.is_runtime_error && failure.kind != ErrorKind::kOutOfMemory) {
    return;
  }
  Explained explained;
  backend_services().explain(text.c_str(), explained);
  if (type.is_runtime_error && static_cast<ErrorKind>(explained.kind) != ErrorKind::kTorch) {
    failure.kind = static_cast<ErrorKind>(explained.kind);
  }
  failure.expected = explained.expected;
  failure.got = explained.got;
  failure.requested_bytes = explained.requested_bytes;
  failure.available_bytes = explained.available_bytes;
}

// How LibTorch refuses to give a pointer for writing, which readers in Python ask for as well.
constexpr const char* kNoDataPointer = "Cannot access data pointer of Tensor (e.g. FakeTensor";

/// The package that a module belongs to which could not be found; empty where the package is there and lacks
/// that part.
std::string missing_package(PyObject* exception) {
  const std::string module = attribute_text(exception, "name");
  std::string package = module.substr(0, module.find('.'));
  const Ref name(PyUnicode_FromStringAndSize(package.data(), static_cast<Py_ssize_t>(package.size())));
  const Ref there(name ? PyImport_GetModule(name.get()) : nullptr);
  pass_over_exception();
  return there ? "" : package;
}

/// The package's name may differ from the module's.
std::string install_command(const std::string& package) {
  const Ref helpers(PyImport_ImportModule("simple_torch_helpers.packages"));
  const Ref command(helpers ? PyObject_CallMethod(helpers.get(), "install_command", "s", package.c_str())
                            : nullptr);
  pass_over_exception();
  return command ? text_of(command.get())
                 : std::string(services().environment->python) + " -m pip install " + package;
}

/// Says how to mend what the message alone leaves open.
void add_advice(PyObject* exception, const ExceptionType& type, Failure& failure) {
  if (type.is_missing_module) {
    const std::string package = missing_package(exception);
    if (!package.empty()) {
      failure.expected = install_command(package);
      failure.message += "; install it: " + failure.expected;
      if (failure.expected.ends_with(" " + package)) {
        failure.message += " (its package may have another name)";
      }
    }
  } else if (type.is_runtime_error && failure.message.find(kNoDataPointer) != std::string::npos) {
    failure.message +=
        "; a tensor over memory that was lent read-only is one of these: give a clone(), or a "
        "simple_torch.Tensor "
        "(from_dlpack of Python's simple_torch)";
  } else if (type.is_exit) {
    failure.got = attribute_text(exception, "code");
  }
}

// Of the calling thread: functions of Simple's that Python waits for, and what last came out of Python
// meanwhile.
thread_local int functions_awaited = 0;
thread_local PyObject* kept = nullptr;
thread_local std::string* kept_message = nullptr;  // made when it is first needed

void keep_while_passing(PyObject* exception, const std::string& message) {
  if (functions_awaited == 0) {
    return;
  }
  Py_INCREF(exception);
  Py_XSETREF(kept, exception);
  if (kept_message == nullptr) {
    kept_message = new std::string;
  }
  *kept_message = message;
}

/// `text` is what the exception shows.
Failure failure_of_exception(PyObject* exception, std::string_view text) {
  Failure failure;
  ExceptionType room;
  const ExceptionType& type = exception_type(Py_TYPE(exception), room);
  failure.type = type.full_name;
  failure.kind = type.kind;
  const std::string line = on_one_line(text);
  failure.message.reserve(type.name.size() + 2 + line.size());
  failure.message += type.name;
  if (!line.empty()) {
    failure.message.append(": ").append(line);
  }
  // Python's module takes fifty times as long.
  failure.traceback = is_bare(exception, type) ? bare_text(failure.type, text) : traceback_text(exception);
  explain_words_of_libtorch(type, line, failure);
  add_advice(exception, type, failure);
  keep_while_passing(exception, failure.message);
  return failure;
}

/// "KeyError: 1", which most often is the message, and is all that a traceback would show: it is told without
/// memory of its own, in a third of the time.
class OneLineError {
 public:
  /// False where there is more to tell of the exception; the rest of this is as it was then.
  bool tells_all(PyObject* exception, std::string_view text) {
    const ExceptionType* type = lasting_exception_type(Py_TYPE(exception));
    if (functions_awaited != 0 || type == nullptr || !type->is_plain || !is_bare(exception, *type) ||
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

ExceptionsPass::ExceptionsPass() noexcept { ++functions_awaited; }

ExceptionsPass::~ExceptionsPass() {
  if (--functions_awaited == 0 && kept != nullptr && may_touch_python()) {
    const PendingException pending;  // its end may run Python
    Py_CLEAR(kept);
    delete std::exchange(kept_message, nullptr);
  }
}

bool is_function_awaited() noexcept { return functions_awaited != 0; }

Ref passing_exception(const char* message) {
  if (kept == nullptr) {
    return {};
  }
  const std::string_view whole(*kept_message);
  const size_t head = whole.find(": ");
  const bool is_it = whole == message ||
                     (head != std::string_view::npos && whole.substr(head + 2) == message) ||
                     (head == std::string_view::npos && *message == '\0');
  return is_it ? Ref::borrowed(kept) : Ref();
}

void set_services(const abi::FrontServices* services) noexcept { given_services = services; }

const abi::FrontServices& services() noexcept { return *given_services; }

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
    return failure_of_exception(exception.get(), Shown(exception.get()).text());
  }
  Failure failure;
  failure.message = "a Python function failed and set no exception";
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
    failure.message = "no memory left for a call of Python";
  } catch (const std::exception& e) {
    failure.message = e.what();
  } catch (...) {
    failure.message = "unknown C++ exception in the Python bridge";
  }
  return failure;
}

int32_t report_python_error() {
  OneLineError line;
  std::optional<Failure> failure;
  {
    const Ref exception = take_exception();
    if (!exception) {
      return report_plain(ErrorKind::kInternal, "a Python function failed and set no exception");
    }
    const Shown shown(exception.get());
    if (is_interrupted_while_telling()) {
      return report_interrupt();
    }
    if (!line.tells_all(exception.get(), shown.text())) {
      failure = failure_of_exception(exception.get(), shown.text());
    }
  }
  return failure ? report(*failure) : line.report();
}

int32_t report_thrown(std::exception_ptr thrown) {
  const Failure failure = to_failure(thrown);
  thrown = nullptr;  // its end may run Python code, as that of what pends
  PyErr_Clear();
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
