// The frame of every bridge function: check that Python runs, hold the GIL, track interrupts, record errors.
#pragma once

#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "bridge/objects/errors.h"
#include "bridge/objects/python_output.h"
#include "bridge/objects/references.h"
#include "bridge/objects/shared_names.h"
#include "bridge/runtime/forced_unwind.h"
#include "bridge/runtime/gil.h"
#include "bridge/runtime/handled_exceptions.h"
#include "bridge/runtime/interpreter.h"
#include "bridge/runtime/interrupts.h"
#include "bridge/runtime/python_process.h"

namespace simple_torch::bridge {

/// One entry into Python: holds the GIL and counts the thread as inside Python.
class Entry {
 public:
  Entry() {
    if (gil_.thread().exception != nullptr) [[unlikely]] {
      drop_exception(gil_.thread());
    }
    if (is_entry_) {
      entering_python(gil_.thread());
      synchronize_shared_names();
    }
  }
  ~Entry() {
    if (is_entry_ && gil_.thread().inside != 0) [[unlikely]] {
      abandon_python(gil_.thread());  // the thread ends; finish() was not called
    }
    resume_program(was_in_program_);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  /// Ends the entry. Returns 0, or the kind of the recorded error. `thrown` is the C++ exception of a
  /// failure; without one, a failure has set a Python exception. An interrupt still counts while the error is
  /// described, which may run Python code.
  int32_t finish(bool succeeded, std::exception_ptr thrown) {
    if (is_entry_) {
      synchronize_shared_names();
    }
    const unsigned count = interrupt_count(gil_.thread());
    const int32_t status = thrown ? report_thrown(std::move(thrown)) : succeeded ? 0 : report_python_error();
    const bool during_report = take_report_interrupt() || interrupt_count(gil_.thread()) != count;
    resume_program(std::exchange(was_in_program_, false));
    look_at_streams();
    if ((is_entry_ && leaving_python(gil_.thread())) || during_report) {
      PyErr_Clear();
      return report_interrupt();
    }
    return status;
  }

 private:
  GilScope gil_;
  const HandledExceptionsScope handled_{gil_.thread().handled_exceptions};
  const bool is_entry_ = gil_.thread().inside == 0;  // not nested, except below a callback into Simple
  bool was_in_program_ = pause_program();
};

/// Runs `body` and ends the entry with its error.
template <class Body>
int32_t run_in_entry(Entry& entry, Body& body) {
  bool succeeded = false;
  std::exception_ptr thrown;
  try {
    succeeded = body();
  } catch (const PythonErrorSet&) {
    succeeded = false;
  } catch (...) {
    thrown = std::current_exception();
    if (thrown == nullptr) {
      throw;  // is_forced_unwind()
    }
  }
  return entry.finish(succeeded, std::move(thrown));
}

/// Runs `body` under the GIL; it returns false when a Python exception is set. Returns 0, or the kind of the
/// recorded error. Not noexcept: a thread that the program ends in a callback unwinds through it.
template <class Body>
int32_t in_python(Body&& body) {
  if (const char* reason = unavailable_reason()) {
    return report_plain(ErrorKind::kUnavailable, reason);
  }
  try {
    Entry entry;
    return park_at_finalization([&] { return run_in_entry(entry, body); });
  } catch (...) {
    if (is_forced_unwind()) {
      throw;
    }
    return report_plain(ErrorKind::kOutOfMemory, "out of memory while a Python error was described");
  }
}

/// `body` returns a new reference, or NULL with an exception set.
template <class Body>
int32_t object_from_python(Object** out, Body&& body) {
  return in_python([&] {
    *out = to_external(body());
    return *out != nullptr;
  });
}

/// `body` returns 1 or 0, or -1 with an exception set.
template <class Body>
int32_t truth_from_python(bool* out, Body&& body) {
  return in_python([&] {
    const int truth = body();
    *out = truth > 0;
    return truth >= 0;
  });
}

/// A malloc'ed UTF-8 copy of a Python string. NULL with an exception set when the string cannot be encoded or
/// contains a NUL character.
inline char* copy_text(PyObject* text) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size);
  if (utf8 == nullptr) {
    return nullptr;
  }
  if (std::strlen(utf8) != static_cast<size_t>(size)) {
    PyErr_SetString(PyExc_ValueError, "str contains a NUL character, which Simple strings cannot hold");
    return nullptr;
  }
  char* copy = strdup(utf8);
  if (copy == nullptr) {
    PyErr_NoMemory();
  }
  return copy;
}

/// `body` returns a new reference to a str.
template <class Body>
int32_t text_from_python(char** out, Body&& body) {
  return in_python([&] {
    const Ref text(body());
    *out = text ? copy_text(text.get()) : nullptr;
    return *out != nullptr;
  });
}

}  // namespace simple_torch::bridge
