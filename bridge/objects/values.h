// Conversion of Simple values to Python objects; interned names.
#pragma once

#include <cstddef>

#include "bridge/bridge_api.h"
#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

/// A new reference, or NULL with an exception set. Everything here needs the GIL.
PyObject* to_python(const Value& value);

/// An interned str, the same object each time. Empty, with an exception set, when `name` is not UTF-8.
Ref interned(const char* name);

/// The arguments of one call in vectorcall layout, with a free slot before the first.
class CallArguments {
 public:
  /// Converts all arguments; `ok()` is false, with an exception set, when a conversion failed.
  explicit CallArguments(const Arguments& arguments, PyObject* self = nullptr);
  ~CallArguments();
  CallArguments(const CallArguments&) = delete;
  CallArguments& operator=(const CallArguments&) = delete;

  bool ok() const noexcept { return ok_; }
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
  bool ok_ = false;
};

}  // namespace simple_torch::bridge
