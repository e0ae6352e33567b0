// Python.h, included in one way everywhere, and an owned reference for code that holds the GIL.
#pragma once

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <utility>

namespace simple_torch::bridge {

struct Object;

inline PyObject* as_python(Object* object) noexcept { return reinterpret_cast<PyObject*>(object); }
inline Object* as_object(PyObject* object) noexcept { return reinterpret_cast<Object*>(object); }

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
  ~Ref() { Py_XDECREF(ptr_); }

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
  ~PendingException() { PyErr_Restore(type_, value_, traceback_); }
  PendingException(const PendingException&) = delete;
  PendingException& operator=(const PendingException&) = delete;

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

}  // namespace simple_torch::bridge
