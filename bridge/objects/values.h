// Simple's values as Python objects, and names that are used again and again.
#pragma once

#include <cstddef>

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// A new reference, or NULL with an exception pending. The caller holds the GIL, here and below.
PyObject* to_python(const Value& value);

/// An interned str, the same object each time. Nothing, with an exception pending, when it is no UTF-8.
Ref interned(const char* name);

/// The arguments of one call in vectorcall's layout, with a free place before the first.
class CallArguments {
 public:
  /// Converts all; `good()` is false, with an exception pending, when one could not be.
  explicit CallArguments(const Arguments& arguments, PyObject* self = nullptr);
  ~CallArguments();
  CallArguments(const CallArguments&) = delete;
  CallArguments& operator=(const CallArguments&) = delete;

  bool good() const noexcept { return good_; }
  PyObject* const* first() const noexcept { return values_ + 1; }
  size_t positional() const noexcept { return positional_ | PY_VECTORCALL_ARGUMENTS_OFFSET; }
  PyObject* names() const noexcept { return names_.get(); }

 private:
  bool convert(const Arguments& arguments);
  bool name(const Arguments& arguments);

  static constexpr size_t kInline = 12;
  PyObject* inline_values_[kInline];
  PyObject** values_ = inline_values_;
  size_t self_count_;
  size_t filled_ = 0;
  size_t positional_ = 0;
  Ref names_;
  bool good_ = false;
};

}  // namespace simple_torch::bridge
