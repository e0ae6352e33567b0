// The arguments of a call of a Simple function, converted while the GIL is held.
#pragma once

#include <c10/util/SmallVector.h>

#include <list>

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// Numbers, strings, tensors and functions of the program need no other call of Python.
class ReceivedValues {
 public:
  /// `program` is that of the function which receives them.
  explicit ReceivedValues(const void* program) : program_(program) {}
  ~ReceivedValues();  // under the GIL, unless the values were taken
  ReceivedValues(const ReceivedValues&) = delete;
  ReceivedValues& operator=(const ReceivedValues&) = delete;

  /// In the layout of a vectorcall; `names` may be NULL. The caller keeps the objects alive during the call.
  /// False with an exception set on failure. Needs the GIL.
  bool convert(PyObject* const* values, Py_ssize_t count, PyObject* names);

  /// For the function, which takes the objects among the values.
  ReceivedArguments take() noexcept;

 private:
  void convert_value(PyObject* object, Value& out, const SimpleFunction*& function);
  void convert_object(PyObject* object, Value& out, const SimpleFunction*& function);
  bool convert_names(PyObject* names);

  static constexpr unsigned kInline = 8;
  const void* program_;
  c10::SmallVector<Value, kInline> values_;
  c10::SmallVector<const SimpleFunction*, kInline> functions_;
  c10::SmallVector<const char*, kInline> names_;
  std::list<at::Tensor> tensors_;  // a list, because the values point into it
  bool is_taken_ = false;
};

}  // namespace simple_torch::bridge
