// Conversion of values between Simple and C.
#pragma once

#include <ffi.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "abi/include/simple_torch/spl_runtime.h"
#include "host/compiler/extern.h"
#include "host/values/objects.h"

namespace spl {

/// The libffi interface of a signature, never freed; null if libffi does not support it.
ffi_cif* call_interface(const Signature& signature);

union Slot {
  int64_t i64;
  int32_t i32;
  double f64;
  float f32;
  uint8_t b8;
  const char* text;
  SplArray* array;
  void* function;
};

/// The converted arguments of one call. The destructor frees the arrays.
class Arguments {
 public:
  Arguments(const std::string& function, const Signature& signature, const Value* args);
  ~Arguments() { free_arrays(); }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  void** pointers() { return pointers_.data(); }

 private:
  void convert(const std::string& function, size_t i, Value v);
  void free_arrays();

  const Signature& signature_;
  std::array<Slot, kMaxArguments> slots_;
  std::array<void*, kMaxArguments> pointers_;
  size_t filled_ = 0;
};

union NativeResult {
  ffi_arg word;
  int64_t i64;
  double f64;
  float f32;
  void* pointer;
};

/// Converts the result of a native function and frees its text or array. Owned.
Value from_native(NativeType type, const NativeResult& result);
/// Converts an argument of a callback; text and arrays stay with the caller. Owned.
Value borrowed_from_native(NativeType type, const void* slot_address);
/// Converts a callback's result; the caller owns its text or array.
void to_native_result(NativeType type, Value v, NativeResult& result);

const std::string& text_for_native(Value v);

/// Converts nil, a bool, an i64 or an f64. Returns false, without a change, for other values.
bool scalar_to_native(SplValue& out, Value v);

/// Whether the class of an object has __native__(), which returns the value that native functions receive.
inline bool has_native_form(Value v) {
  return v.is(Kind::kInstance) && as_object<Instance>(v)->record->native_form != nullptr;
}
Ref native_form_of(Value v);

}  // namespace spl
