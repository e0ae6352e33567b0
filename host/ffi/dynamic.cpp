// Host externs for libraries and functions by address, as in stock Simple, and for raw memory.
#include <dlfcn.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <set>

#include "host/ffi/callback.h"
#include "host/ffi/conversion.h"
#include "host/ffi/dynamic.h"
#include "host/ffi/libraries.h"
#include "host/values/conversions.h"
#include "host/values/error.h"
#include "host/values/sized.h"
#include "host/vm/lock.h"

namespace spl {

namespace {

constexpr int64_t kMaxWords = 8;

template <class Pointer>
Pointer* pointer(Value v, const char* what) {
  if (!is_any_integer(v) || v.as_int == 0) {
    fail(std::string(what) + " must be an address, got " + (v.is_int() ? "0" : type_name(v)));
  }
  return reinterpret_cast<Pointer*>(v.as_int);
}

// The open libraries, once for each time they were opened.
std::multiset<void*>& open_libraries() {
  static std::multiset<void*> open;
  return open;
}

void* library_argument(Value v) {
  void* library = pointer<void>(v, "the library");
  if (!open_libraries().contains(library)) {
    fail(display(v) + " is not a library handle from spl_dlopen()");
  }
  return library;
}

Value open_library(Thread&, Value* args, int count) {
  const int flags = count > 1 ? static_cast<int>(to_integer(args[1])) : RTLD_LAZY;
  void* library = open_library_named(text_for_native(args[0]), flags);
  if (library != nullptr) {
    open_libraries().insert(library);
  }
  return Value::integer(reinterpret_cast<int64_t>(library));
}
Value find_symbol(Thread&, Value* args, int) {
  expect_text(args[1], "the name of a native function");
  return Value::integer(
      reinterpret_cast<int64_t>(dlsym(library_argument(args[0]), text_for_native(args[1]).c_str())));
}
Value close_library(Thread&, Value* args, int) {
  void* library = library_argument(args[0]);
  open_libraries().erase(open_libraries().find(library));
  return Value::integer(dlclose(library));
}

/// The arguments of a dynamic call: the first `count` items of `array`, at most eight.
template <class Number, class Read>
std::array<Number, kMaxWords> words(Value array, Value count, Read&& read) {
  if (!array.is(Kind::kArray)) {
    fail("spl_wffi_call: arguments must be an array, got " + type_name(array));
  }
  const auto& items = as_object<Array>(array)->items;
  const int64_t n = to_integer(count);
  if (n > kMaxWords) {
    fail("spl_wffi_call: at most 8 arguments are supported, got " + std::to_string(n));
  }
  if (n < 0 || n > static_cast<int64_t>(items.size())) {
    fail("spl_wffi_call: count must be between 0 and the length of the array, got " + std::to_string(n) +
         " and " + std::to_string(items.size()));
  }
  std::array<Number, kMaxWords> made{};
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
    made[i] = read(items[i]);
  }
  return made;
}

// The callee ignores surplus arguments.
template <class Number, class Read>
Number call_by_address(Value* args, Read&& read) {
  using N = Number;
  auto* function = pointer<N(N, N, N, N, N, N, N, N)>(args[0], "the native function");
  const auto a = words<N>(args[1], args[2], read);
  N result;
  {
    const Unlocked unlocked;
    result = function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
  }
  if (callback_failed()) {
    raise_callback_failure();
  }
  return result;
}
Value call_integers(Thread&, Value* args, int) {
  return Value::integer(call_by_address<int64_t>(args, [](Value v) {
    if (!is_any_integer(v) && !v.is_bool()) {
      fail("spl_wffi_call_i64: arguments must be integers, got " + type_name(v));
    }
    return to_integer(v);
  }));
}
Value call_floats(Thread&, Value* args, int) {
  return Value::number(call_by_address<double>(args, [](Value v) {
    if (!is_any_number(v)) {
      fail("spl_wffi_call_f64: arguments must be numbers, got " + type_name(v));
    }
    return number_as_double(v);
  }));
}

Value float_to_bits(Thread&, Value* args, int) {
  return Value::integer(std::bit_cast<int64_t>(to_number(args[0])));
}
Value bits_to_float(Thread&, Value* args, int) {
  return Value::number(std::bit_cast<double>(to_integer(args[0])));
}

// The address stays valid for the next 64 calls, even if no other reference to the text exists.
Value text_address(Thread&, Value* args, int) {
  expect_text(args[0], "the argument of spl_str_ptr()");
  static std::array<Ref, 64> recent;
  static size_t next = 0;
  Ref& slot = recent[next++ % recent.size()];
  slot = Ref::shared(args[0]);
  return Value::integer(reinterpret_cast<int64_t>(text_for_native(slot.get()).c_str()));
}
Value text_at(Thread&, Value* args, int) {
  return make_text(pointer<const char>(args[0], "the argument of rt_cstring_to_text()"));
}

Value allocate(Thread&, Value* args, int) {
  const int64_t size = to_integer(args[0]);
  void* memory = size < 0 ? nullptr : std::calloc(1, static_cast<size_t>(size == 0 ? 1 : size));
  if (memory == nullptr) {
    fail("rt_alloc: cannot allocate " + std::to_string(size) + " bytes");
  }
  return Value::integer(reinterpret_cast<int64_t>(memory));
}
Value free_memory(Thread&, Value* args, int) {
  std::free(reinterpret_cast<void*>(to_integer(args[0])));
  return Value();
}
Value write_integer(Thread&, Value* args, int) {
  const int64_t word = to_integer(args[2]);
  std::memcpy(pointer<char>(args[0], "the first argument of rt_ptr_write_i64()") + to_integer(args[1]), &word,
              sizeof word);
  return Value();
}
Value read_integer(Thread&, Value* args, int) {
  int64_t word;
  std::memcpy(&word,
              pointer<const char>(args[0], "the first argument of rt_ptr_read_i64()") + to_integer(args[1]),
              sizeof word);
  return Value::integer(word);
}

}  // namespace

std::span<const NativeEntry> dynamic_externs() {
  static constexpr NativeEntry entries[] = {
      {"spl_dlopen", open_library, 1, 1},
      {"spl_dlsym", find_symbol, 2, 2},
      {"spl_dlclose", close_library, 1, 1},
      {"spl_wffi_call_i64", call_integers, 3, 3},
      {"spl_wffi_call_f64", call_floats, 3, 3},
      {"spl_f64_to_bits", float_to_bits, 1, 1},
      {"spl_bits_to_f64", bits_to_float, 1, 1},
      {"spl_str_ptr", text_address, 1, 1},
      {"rt_dlopen", open_library, 2, 2},
      {"rt_dlsym", find_symbol, 2, 2},
      {"rt_dlclose", close_library, 1, 1},
      {"rt_cstring_to_text", text_at, 1, 1},
      {"rt_alloc", allocate, 1, 1},
      {"rt_free", free_memory, 2, 2},
      {"rt_ptr_write_i64", write_integer, 3, 3},
      {"rt_ptr_read_i64", read_integer, 2, 2},
  };
  return entries;
}

}  // namespace spl
