// Includes Python.h in one way everywhere; defines an owned reference for code that holds the GIL.
#pragma once

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <atomic>
#include <utility>

namespace simple_torch::bridge {

struct Object;

inline PyObject* as_python(Object* object) noexcept { return reinterpret_cast<PyObject*>(object); }
inline Object* as_object(PyObject* object) noexcept { return reinterpret_cast<Object*>(object); }

/// The state of Python in this process. kForked: a child process that cannot call Python.
enum class PythonState { kNotStarted, kRunning, kStartFailed, kForked, kClosed };
extern constinit std::atomic<PythonState> python_state;

inline bool python_is_started() noexcept {
  return python_state.load(std::memory_order_acquire) == PythonState::kRunning;
}

/// The answer of `may_touch_python` while Python starts or finalizes.
[[gnu::noinline, gnu::cold]] bool may_touch_unready_python() noexcept;

inline bool is_python_finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

/// False on a thread that Python unwinds at finalization: destructors that run then must not touch objects.
inline bool may_touch_python() noexcept {
  const bool is_running = python_is_started() && !is_python_finalizing();
  return is_running || may_touch_unready_python();
}

/// An owned reference or NULL, created and dropped under the GIL only.
class Ref {
 public:
  Ref() noexcept = default;
  explicit Ref(PyObject* owned) noexcept : ptr_(owned) {}
  Ref(Ref&& other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(ptr_, other.ptr_);
    return *this;
  }
  ~Ref() {
    if (ptr_ != nullptr && may_touch_python()) {
      Py_DECREF(ptr_);
    }
  }

  static Ref borrowed(PyObject* object) noexcept {
    Py_XINCREF(object);
    return Ref(object);
  }

  explicit operator bool() const noexcept { return ptr_ != nullptr; }
  PyObject* get() const noexcept { return ptr_; }
  PyObject* release() noexcept { return std::exchange(ptr_, nullptr); }

 private:
  PyObject* ptr_ = nullptr;
};

/// Saves the current exception around code that may run Python, such as producers' deleters during an error.
class PendingException {
 public:
  PendingException() noexcept { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~PendingException() {
    if (may_touch_python()) {
      PyErr_Restore(type_, value_, traceback_);
    }
  }
  PendingException(const PendingException&) = delete;
  PendingException& operator=(const PendingException&) = delete;

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

}  // namespace simple_torch::bridge
