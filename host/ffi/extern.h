// `extern fn`: native functions found by name and called through libffi.
#pragma once

#include <string>
#include <vector>

#include "../syntax/ast.h"
#include "../values/objects.h"

namespace spl {

enum class NativeType : uint8_t { kVoid, kInt, kInt32, kFloat, kFloat32, kBool, kText, kArray };

struct Extern : Object {
  std::string name;
  std::vector<NativeType> parameters;
  NativeType result = NativeType::kVoid;
  void* address = nullptr;          // found at the first call
  const Native* builtin = nullptr;  // … or in the host itself
  void* call_interface = nullptr;   // ffi_cif
  bool only_integers = false;
  Extern() : Object(Kind::kExtern) {}
};

/// Fails (CompileError) on a type that C has no word for.
Value make_extern(const FunctionDecl& decl);

/// Borrowed arguments, owned result. The host lock is free while the native function runs.
Value call_extern(Thread& thread, Extern& function, Value* args, int count);

}  // namespace spl
