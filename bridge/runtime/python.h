// Python.h, included in one way everywhere, and an owned reference for code that holds the GIL.
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

/// Where Python stands in this process. kForked: in a child that has no use of it.
enum class PythonState { kNotStarted, kRunning, kRefused, kForked, kClosed };
extern constinit std::atomic<PythonState> python_state;

inline bool python_is_started() noexcept {
  return python_state.load(std::memory_order_acquire) == PythonState::kRunning;
}

/// Whether the calling thread has the GIL, also once Python has ended and tells everybody that they have.
bool has_gil_at_the_end() noexcept;

/// False on a thread that Python unwinds because it ends: what the unwinding destroys is left alone.
inline bool may_touch_python() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  const bool is_ending = Py_IsFinalizing() != 0;
#else
  const bool is_ending = _Py_IsFinalizing() != 0;
#endif
  const bool is_there = python_is_started() || Py_IsInitialized() != 0;
  return (!is_ending && is_there) || has_gil_at_the_end();
}

/// An owned reference, or nothing; made and dropped under the GIL only.
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
  PyObject* give() noexcept { return std::exchange(ptr_, nullptr); }

 private:
  PyObject* ptr_ = nullptr;
};

/// Puts a pending exception aside for code that may run Python: the producers' deleters, on the way out of a
/// failure.
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
