// Simple's values as C's, and back.
#pragma once

#include <ffi.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "abi/include/simple_torch/spl_runtime.h"
#include "host/syntax/ast.h"
#include "host/values/objects.h"

namespace spl {

enum class NativeType : uint8_t { kVoid, kInt, kInt32, kFloat, kFloat32, kBool, kText, kArray, kFunction };

constexpr size_t kMostArguments = 24;

/// The types of a native function, or of a Simple function that native code calls.
struct Signature {
  std::vector<NativeType> parameters;
  NativeType result = NativeType::kVoid;
  std::vector<std::shared_ptr<Signature>> functions;  // of the parameters that are functions, else null
};

/// Fails (CompileError) on a type that C has no word for.
void add_parameter(Signature& signature, const TypeExpr& type, const SourceSpan& span);
NativeType result_type(const TypeExpr& type, const SourceSpan& span);
/// Kept for ever; null where libffi refuses.
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

/// The converted arguments of one call; arrays are freed with it.
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
  std::array<Slot, kMostArguments> slots_;
  std::array<void*, kMostArguments> pointers_;
  size_t filled_ = 0;
};

union NativeResult {
  ffi_arg word;
  int64_t i64;
  double f64;
  float f32;
  void* pointer;
};

/// What a native function gave; text and arrays are freed. Owned.
Value from_native(NativeType type, const NativeResult& result);
/// An argument of a callback; text and arrays stay the caller's. Owned.
Value borrowed_from_native(NativeType type, const void* place);
/// A callback's result; text and arrays become the caller's.
void to_native_result(NativeType type, Value v, NativeResult& result);

const std::string& text_for_native(Value v);

/// A value that C has as it is: nil, a bool, an i64 or an f64. False, and nothing done, for any other.
bool scalar_to_native(SplValue& out, Value v);

}  // namespace spl
