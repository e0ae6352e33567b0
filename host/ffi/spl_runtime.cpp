// The spl_* functions that a Simple runtime exports to native libraries.
#include "abi/include/simple_torch/spl_runtime.h"

#include <cstdlib>
#include <cstring>

#include "host/interrupts/interrupts.h"

#define SPL_EXPORT __attribute__((visibility("default"), used))

extern "C" {

SPL_EXPORT SplArray* spl_array_new() {
  void* memory = std::calloc(1, sizeof(SplArray));
  if (memory == nullptr) {
    std::abort();  // C callers cannot receive an error
  }
  return static_cast<SplArray*>(memory);
}
SPL_EXPORT SplArray* spl_array_new_i64() { return spl_array_new(); }

SPL_EXPORT void spl_array_push(SplArray* array, SplValue value) {
  if (array->len == array->cap) {
    const int64_t capacity = array->cap < 4 ? 4 : 2 * array->cap;
    void* items = std::realloc(array->items, static_cast<size_t>(capacity) * sizeof(SplValue));
    if (items == nullptr) {
      std::abort();
    }
    array->items = static_cast<SplValue*>(items);
    array->cap = capacity;
  }
  array->items[array->len] = value;
  ++array->len;
}
SPL_EXPORT void spl_array_push_i64(SplArray* array, int64_t number) {
  SplValue value;
  std::memset(&value, 0, sizeof value);
  value.tag = SPL_INT;
  value.as_int = number;
  spl_array_push(array, value);
}

SPL_EXPORT int64_t spl_array_len(const SplArray* array) { return array != nullptr ? array->len : 0; }

SPL_EXPORT SplValue spl_array_get(const SplArray* array, int64_t index) {
  if (index < 0 || index >= spl_array_len(array)) {
    SplValue nothing;
    std::memset(&nothing, 0, sizeof nothing);
    return nothing;
  }
  return array->items[index];
}

SPL_EXPORT int64_t spl_as_int(SplValue value) {
  if (value.tag == SPL_INT) {
    return value.as_int;
  }
  if (value.tag == SPL_FLOAT) {
    return static_cast<int64_t>(value.as_float);
  }
  return value.tag == SPL_BOOL && value.as_bool;
}
SPL_EXPORT double spl_as_float(SplValue value) {
  return value.tag == SPL_FLOAT ? value.as_float : static_cast<double>(spl_as_int(value));
}

SPL_EXPORT const SplInterruptService* spl_interrupt_service() { return spl::interrupt_service(); }

SPL_EXPORT char* spl_str_new(const char* text) {
  char* copy = strdup(text);
  if (copy == nullptr) {
    std::abort();
  }
  return copy;
}

SPL_EXPORT void spl_array_free(SplArray* array) {
  for (int64_t i = 0; i < spl_array_len(array); ++i) {
    const SplValue& item = array->items[i];
    if (item.tag == SPL_STRING) {
      std::free(item.as_string);
    }
    if (item.tag == SPL_ARRAY) {
      spl_array_free(item.as_array);
    }
  }
  if (array != nullptr) {
    std::free(array->items);
  }
  std::free(array);
}

}  // extern "C"
