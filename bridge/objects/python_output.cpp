#include "bridge/objects/python_output.h"

#include "bridge/objects/errors.h"
#include "bridge/runtime/entry.h"
#include "bridge/runtime/python_process.h"

namespace simple_torch::bridge {
namespace {

constexpr const char* kMessage = "print: cannot write to standard output";  // of the host's error

/// Takes the exception. An interrupt stops the program, which cannot handle it as an error of `print`.
bool stops_program() {
  const Ref exception = take_exception();
  if (PyErr_GivenExceptionMatches(exception.get(), PyExc_KeyboardInterrupt) != 0) {
    return true;
  }
  keep_exception(exception.get(), kMessage);
  return false;
}

}  // namespace

bool write_to_stream(int stream, const char* text, size_t size) {
  const Ref object = Ref::borrowed(PySys_GetObject(stream == 1 ? "stdout" : "stderr"));
  if (!object || object.get() == Py_None) {
    return true;
  }
  const Ref decoded(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(size), "replace"));
  return decoded && Ref(PyObject_CallMethod(object.get(), "write", "O", decoded.get()));
}

int write_to_python(int stream, const char* text, size_t size) noexcept {
  bool is_written = false;
  bool is_interrupted = false;
  const int32_t status = in_python([&] {
    is_written = write_to_stream(stream, text, size);
    is_interrupted = !is_written && stops_program();
    return true;
  });
  if (is_interrupted || status == static_cast<int32_t>(ErrorKind::kInterrupted)) {
    interrupt_program();
    return 0;
  }
  return is_written && status == 0 ? 0 : 1;
}

}  // namespace simple_torch::bridge
