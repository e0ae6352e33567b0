// Native functions: found at their first call, called directly or through libffi.
#include "host/ffi/extern.h"

#include <cerrno>

#include "host/builtins/builtins.h"
#include "host/compiler/compiler.h"
#include "host/ffi/callback.h"
#include "host/ffi/libraries.h"
#include "host/modules/module.h"
#include "host/vm/hints.h"
#include "host/vm/lock.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

// Programs read the C library's errno by a native function of its own: the search for it, which opens files,
// leaves errno as the call before left it.
class KeptErrno {
 public:
  KeptErrno() = default;
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;
  ~KeptErrno() { errno = value_; }

 private:
  const int value_ = errno;
};

void resolve(Extern& function) {
  const KeptErrno kept;
  if ((function.builtin = host_extern(function.name)) != nullptr) {
    return;
  }
  const FoundSymbol found = find_native(function.name);
  if (found.address == nullptr) {
    fail("unknown extern function: " + function.name + "; searched in" + found.tried);
  }
  function.call_interface = call_interface(function.signature);
  if (function.call_interface == nullptr) {
    fail(function.name + ": libffi does not support this signature");
  }
  function.address = found.address;
}

bool is_word(NativeType type) { return type == NativeType::kInt; }

// All-integer functions are called directly: no conversion, no libffi.
int64_t call_words(void* address, const Value* a, size_t count) {
  using I = int64_t;
  switch (count) {
    case 0:
      return reinterpret_cast<I (*)()>(address)();
    case 1:
      return reinterpret_cast<I (*)(I)>(address)(a[0].as_int);
    case 2:
      return reinterpret_cast<I (*)(I, I)>(address)(a[0].as_int, a[1].as_int);
    case 3:
      return reinterpret_cast<I (*)(I, I, I)>(address)(a[0].as_int, a[1].as_int, a[2].as_int);
    case 4:
      return reinterpret_cast<I (*)(I, I, I, I)>(address)(a[0].as_int, a[1].as_int, a[2].as_int, a[3].as_int);
    case 5:
      return reinterpret_cast<I (*)(I, I, I, I, I)>(address)(a[0].as_int, a[1].as_int, a[2].as_int,
                                                             a[3].as_int, a[4].as_int);
    default:
      return reinterpret_cast<I (*)(I, I, I, I, I, I)>(address)(a[0].as_int, a[1].as_int, a[2].as_int,
                                                                a[3].as_int, a[4].as_int, a[5].as_int);
  }
}

}  // namespace

Value make_extern(const FunctionDecl& decl, const LoadedModule& module) {
  auto* function = new Extern();
  function->name = name_of(decl.info.name);
  if (decl.params.size() > kMostArguments) {
    throw CompileError{
        decl.span, "an extern function can have at most " + std::to_string(kMostArguments) + " parameters", ""};
  }
  for (const Param& param : decl.params) {
    if (!param.type) {
      throw CompileError{param.span, "a parameter of an extern function needs a type", ""};
    }
    add_parameter(function->signature, module.unaliased(*param.type), param.span);
  }
  if (decl.return_type) {
    function->signature.result = result_type(module.unaliased(*decl.return_type), decl.return_type->span);
  }
  function->only_integers =
      function->signature.parameters.size() <= 6 &&
      (is_word(function->signature.result) || function->signature.result == NativeType::kVoid);
  for (const NativeType type : function->signature.parameters) {
    function->only_integers = function->only_integers && is_word(type);
  }
  return Value::object(function);
}

void* address_of(Extern& function) {
  if (function.address == nullptr && function.builtin == nullptr) {
    resolve(function);
  }
  return function.address;
}

Value call_extern(Thread& thread, Extern& function, Value* args, int count) {
  if (static_cast<size_t>(count) != function.signature.parameters.size()) {
    fail(function.name + " " +
         wrong_count(static_cast<int64_t>(function.signature.parameters.size()),
                     static_cast<int64_t>(function.signature.parameters.size()), count));
  }
  const void* address = address_of(function);
  if (address == nullptr) {
    return function.builtin->fn(thread, args, count);
  }
  if (function.only_integers) {
    bool integers = true;
    for (int i = 0; i < count; ++i) {
      integers = integers && args[i].is_int();
    }
    if (integers) {
      int64_t result;
      {
        const Unlocked unlocked;
        result = call_words(function.address, args, static_cast<size_t>(count));
      }
      if (callback_failed()) [[unlikely]] {
        raise_callback_failure();
      }
      return function.signature.result == NativeType::kVoid ? Value() : Value::integer(result);
    }
  }
  NativeResult result{};
  {
    Arguments arguments(function.name, function.signature, args);
    const Unlocked unlocked;
    ffi_call(static_cast<ffi_cif*>(function.call_interface), FFI_FN(function.address), &result,
             arguments.pointers());
  }
  if (callback_failed()) {
    release(from_native(function.signature.result, result));
    raise_callback_failure();
  }
  return from_native(function.signature.result, result);
}

}  // namespace spl
