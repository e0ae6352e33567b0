// Extern functions: resolved at their first call, called directly or through libffi.
#include "host/ffi/extern.h"

#include <algorithm>
#include <cerrno>

#include "host/compiler/compiler.h"
#include "host/ffi/callback.h"
#include "host/ffi/direct.h"
#include "host/ffi/dynamic.h"
#include "host/ffi/libraries.h"
#include "host/ffi/operator_call.h"
#include "host/values/module.h"
#include "host/vm/hints.h"
#include "host/vm/lock.h"
#include "host/vm/machine_hooks.h"
#include "host/vm/natives.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

// Preserves errno. A program may read errno by an extern function, and the search for that function opens
// files.
class ErrnoGuard {
 public:
  ErrnoGuard() = default;
  ErrnoGuard(const ErrnoGuard&) = delete;
  ErrnoGuard& operator=(const ErrnoGuard&) = delete;
  ~ErrnoGuard() { errno = value_; }

 private:
  const int value_ = errno;
};

// Upstream's runtime has functions that are written in Simple here. Returns whether this is one.
bool resolve_in_library(Extern& function) {
  const Value found = machine_hooks().library_function("std/runtime_externs", function.name.c_str());
  if (found.is_missing()) {
    return false;
  }
  function.of_library = retained(found);
  return true;
}

void resolve(Extern& function) {
  const ErrnoGuard guard;
  if ((function.builtin = host_extern(function.name)) != nullptr) {
    return;
  }
  if (!function.unsupported.empty()) {
    if (resolve_in_library(function)) {
      return;
    }
    fail(function.name + ": " + function.unsupported);
  }
  const FoundSymbol found = find_native(function.name);
  if (found.address == nullptr) {
    if (resolve_in_library(function)) {
      return;
    }
    fail("unknown extern function: " + function.name + "; searched in" + found.tried);
  }
  function.call_interface = call_interface(function.signature);
  if (function.call_interface == nullptr) {
    fail(function.name + ": libffi does not support this signature");
  }
  function.address = found.address;
}

// Functions of integers are called directly, without conversion and libffi.
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

void* address_of(Extern& function) {
  if (function.address == nullptr && function.builtin == nullptr && !function.of_library.is_object()) {
    resolve(function);
  }
  return function.address;
}

namespace {

Value call_with_native_forms(Thread& thread, Extern& function, const Value* args, int count) {
  std::vector<Ref> held;
  std::vector<Value> forms;
  held.reserve(static_cast<size_t>(count));
  forms.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    held.push_back(has_native_form(args[i]) ? native_form_of(args[i]) : Ref::shared(args[i]));
    if (has_native_form(held.back().get())) {
      fail(function.name + ": argument " + std::to_string(i + 1) + " cannot be passed to native code, got " +
           display(held.back().get()));
    }
    forms.push_back(held.back().get());
  }
  return call_extern(thread, function, forms.data(), count);
}

}  // namespace

Value call_extern(Thread& thread, Extern& function, Value* args, int count) {
  if (static_cast<size_t>(count) != function.signature.parameters.size()) {
    fail_arguments(function.name + " " +
                   wrong_count(static_cast<int64_t>(function.signature.parameters.size()),
                               static_cast<int64_t>(function.signature.parameters.size()), count));
  }
  const void* address = address_of(function);
  if (address == nullptr) {
    return function.builtin != nullptr ? function.builtin->fn(thread, args, count)
                                       : thread.call(function.of_library, args, count);
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
  if (std::any_of(args, args + count, has_native_form)) [[unlikely]] {
    return call_with_native_forms(thread, function, args, count);
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

void install_native_calls() {
  MachineHooks& hooks = machine_hooks();
  hooks.call_extern = call_extern;
  hooks.direct_operation = direct_operation;
  hooks.direct_call = direct_call;
  hooks.direct_invoke = direct_invoke;
  hooks.direct_get = direct_get;
  hooks.direct_drop = direct_drop;
  hooks.call_operator = call_operator;
  hooks.get_item = get_item;
  hooks.set_item = set_item;
  hooks.notify_libraries_of_exit = notify_libraries_of_exit;
  add_host_externs(dynamic_externs());
}

}  // namespace spl
