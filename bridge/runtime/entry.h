// How each function of the bridge runs: started, under the GIL, interrupts watched, errors as data.
#pragma once

#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "bridge/objects/errors.h"
#include "bridge/objects/references.h"
#include "bridge/runtime/forced_unwind.h"
#include "bridge/runtime/gil.h"
#include "bridge/runtime/interpreter.h"
#include "bridge/runtime/interrupts.h"

namespace simple_torch::bridge {

/// What one entry of Python keeps apart from the function's own work.
class Entry {
 public:
  Entry() {
    if (is_entry_) {
      entering_python(gil_.thread());
    }
  }

  /// Ends the entry: 0, or the kind of the error that was recorded. `thrown` is the C++ exception by which it
  /// failed; without one a Python exception pends where it did not succeed. Ctrl-C counts until all is told,
  /// which may take Python code.
  int32_t finish(bool succeeded, std::exception_ptr thrown) {
    const unsigned presses = presses_for(gil_.thread());
    const int32_t status = thrown ? report_thrown(std::move(thrown)) : succeeded ? 0 : report_python_error();
    const bool while_telling = take_interrupt_while_telling() || presses_for(gil_.thread()) != presses;
    if ((is_entry_ && leaving_python(gil_.thread())) || while_telling) {
      PyErr_Clear();
      return report_interrupt();
    }
    return status;
  }

 private:
  GilScope gil_;
  const bool is_entry_ = gil_.thread().inside == 0;  // none round it, but for one that waits for Simple
};

/// Runs `body` under the GIL; it returns false when it left a Python exception pending. Returns 0, or the
/// kind of the error that was recorded, when all that Python code may do about it was done.
template <class Body>
int32_t in_python(Body&& body) noexcept {
  if (const char* reason = why_closed()) {
    return report_plain(ErrorKind::kUnavailable, reason);
  }
  try {
    Entry entry;
    return park_on_forced_unwind([&]() __attribute__((no_sanitize("null"))) {  // as park_on_forced_unwind
      bool succeeded = false;
      std::exception_ptr thrown;
      try {
        succeeded = body();
      } catch (::abi::__forced_unwind&) {
        throw;
      } catch (const PythonErrorSet&) {
        succeeded = false;
      } catch (...) {
        thrown = std::current_exception();
      }
      return entry.finish(succeeded, std::move(thrown));
    });
  } catch (...) {
    return report_plain(ErrorKind::kOutOfMemory, "no memory left to describe a failure in Python");
  }
}

/// `body` returns a new reference, or NULL with an exception pending.
template <class Body>
int32_t object_from_python(Object** out, Body&& body) noexcept {
  return in_python([&] {
    *out = to_external(body());
    return *out != nullptr;
  });
}

/// `body` returns 1 or 0, or -1 with an exception pending.
template <class Body>
int32_t truth_from_python(bool* out, Body&& body) noexcept {
  return in_python([&] {
    const int truth = body();
    *out = truth > 0;
    return truth >= 0;
  });
}

/// A malloc'ed copy of a Python string; NULL with an exception pending when it has none in UTF-8, or when
/// an embedded NUL would cut it short.
inline char* copy_text(PyObject* text) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size);
  if (utf8 == nullptr) {
    return nullptr;
  }
  if (std::strlen(utf8) != static_cast<size_t>(size)) {
    PyErr_SetString(PyExc_ValueError, "the text holds a NUL character, which cannot cross to Simple");
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
int32_t text_from_python(char** out, Body&& body) noexcept {
  return in_python([&] {
    const Ref text(body());
    *out = text ? copy_text(text.get()) : nullptr;
    return *out != nullptr;
  });
}

}  // namespace simple_torch::bridge
