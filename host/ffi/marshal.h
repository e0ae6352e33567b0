// Values on their way to C and back.
#pragma once

#include "../values/objects.h"
#include "extern.h"
#include "simple_torch/spl_runtime.h"

namespace spl {

/// One argument or result as C sees it.
union NativeWord {
  int64_t integer;
  double real;
  float real32;
  const char* text;
  SplArray* array;
};

/// Fails with the function's name where the value does not fit the type. Arrays are made here and are the
/// caller's; text stays the value's.
NativeWord to_native(const Extern& function, size_t position, Value value);

/// Takes over what the result points to; the value is owned.
Value from_native(const Extern& function, NativeWord result);

}  // namespace spl
