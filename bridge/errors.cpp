// Exceptions to text: kind, type, one-line message, traceback with causes.
#include "bridge/errors.h"

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "bridge/backend.h"
#include "bridge/exception_types.h"

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
std::string bare_text(const std::string& type, const std::string& text) {
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
    PyErr_Clear();  // out of memory, or too deep in recursion: the message must do
    return "";
  }
  return text_of(text.get());
}

/// Line breaks and the indents after them become one blank: a message is one line.
std::string on_one_line(std::string text) {
  if (text.find_first_of("\n\r") == std::string::npos && !text.ends_with(' ')) {
    return text;
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
  PyErr_Clear();
  return there ? "" : package;
}

/// Says how to mend what the message alone leaves open.
void add_advice(PyObject* exception, const ExceptionType& type, Failure& failure) {
  if (type.is_missing_module) {
    const std::string package = missing_package(exception);
    if (!package.empty()) {
      failure.expected = std::string(services().environment->python) + " -m pip install " + package;
      failure.message += "; install it: " + failure.expected + " (its package may have another name)";
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

}  // namespace

ExceptionsPass::ExceptionsPass() noexcept { ++functions_awaited; }

ExceptionsPass::~ExceptionsPass() {
  if (--functions_awaited == 0 && kept != nullptr && may_touch_python()) {
    const PendingException pending;  // its end may run Python
    Py_CLEAR(kept);
    delete std::exchange(kept_message, nullptr);
  }
}

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
  Failure failure;
  const Ref exception = take_exception();
  if (!exception) {
    failure.message = "a Python function failed and set no exception";
    return failure;
  }
  ExceptionType room;
  const ExceptionType& type = exception_type(exception.get(), room);
  failure.type = type.full_name;
  failure.kind = type.kind;
  const std::string said = text_of(exception.get());
  const std::string text = on_one_line(said);
  failure.message.reserve(type.name.size() + 2 + text.size());
  failure.message += type.name;
  if (!text.empty()) {
    failure.message.append(": ").append(text);
  }
  // Python's module takes fifty times as long.
  failure.traceback =
      is_bare(exception.get(), type) ? bare_text(failure.type, said) : traceback_text(exception.get());
  explain_words_of_libtorch(type, text, failure);
  add_advice(exception.get(), type, failure);
  keep_while_passing(exception.get(), failure.message);
  return failure;
}

Failure failure_of_current_exception() {
  Failure failure;
  try {
    throw;
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
