// `extern fn`: native functions found by name and called through libffi.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/ffi/conversion.h"
#include "host/syntax/ast.h"
#include "host/values/objects.h"

namespace spl {

struct Extern : Object {
  std::string name;
  Signature signature;
  void* address = nullptr;          // found at the first call
  const Native* builtin = nullptr;  // … or in the host itself
  void* call_interface = nullptr;   // ffi_cif
  bool only_integers = false;
  Extern() : Object(Kind::kExtern) {}
};

/// Fails (CompileError) on a type that C has no word for.
Value make_extern(const FunctionDecl& decl, const LoadedModule& module);

/// Where the function is, looked for now if it was not yet; null for one of the host's own. Fails where there
/// is none.
void* address_of(Extern& function);

/// Borrowed arguments, owned result. The host lock is free while the native function runs.
Value call_extern(Thread& thread, Extern& function, Value* args, int count);

}  // namespace spl
