// Declarations of extern functions: the native types of their parameters and results.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/syntax/ast.h"
#include "host/values/module.h"
#include "host/values/objects.h"

namespace spl {

enum class NativeType : uint8_t { kVoid, kInt, kInt32, kFloat, kFloat32, kBool, kText, kArray, kFunction };

constexpr size_t kMaxArguments = 24;

/// The types of a native function, or of a Simple function that native code calls.
struct Signature {
  std::vector<NativeType> parameters;
  NativeType result = NativeType::kVoid;
  std::vector<std::shared_ptr<Signature>> functions;  // of the parameters that are functions, else null
};

struct Extern : Object {
  std::string unsupported;  // why its declared types have no native form; a call reports it
  std::string name;
  Signature signature;
  std::vector<Symbol> parameters;   // their names
  void* address = nullptr;          // resolved at the first call
  const Native* builtin = nullptr;  // the function of the host itself, instead of an address
  Value of_library;                 // the function of std.runtime_externs, instead of an address
  void* call_interface = nullptr;   // ffi_cif
  bool only_integers = false;
  Extern() : Object(Kind::kExtern) {}
};

/// Throws CompileError for a type that C has no equivalent for.
Value make_extern(const FunctionDecl& decl, const LoadedModule& module);

}  // namespace spl
