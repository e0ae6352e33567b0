// Weak definitions of Simple's runtime helpers, for programs that are not a Simple runtime. Definitions in
// the executable take precedence, because the dynamic linker searches it first.
#include <cstdlib>
#include <cstring>

#include "simple_torch/spl_runtime.h"

#define SPL_WEAK __attribute__((weak, visibility("default")))

extern "C" {

SPL_WEAK SplArray* spl_array_new() { return static_cast<SplArray*>(std::calloc(1, sizeof(SplArray))); }

SPL_WEAK SplArray* spl_array_new_i64() { return spl_array_new(); }

SPL_WEAK void spl_array_push(SplArray* array, SplValue value) {
  if (array == nullptr) {
    return;
  }
  if (array->len == array->cap) {
    const int64_t cap = array->cap == 0 ? 8 : array->cap * 2;
    void* items = std::realloc(array->items, static_cast<size_t>(cap) * sizeof(SplValue));
    if (items == nullptr) {
      std::abort();  // as the runtimes do: the error cannot be reported
    }
    array->items = static_cast<SplValue*>(items);
    array->cap = cap;
  }
  array->items[array->len++] = value;
}

SPL_WEAK void spl_array_push_i64(SplArray* array, int64_t value) {
  SplValue item{};
  item.tag = SPL_INT;
  item.as_int = value;
  spl_array_push(array, item);
}

SPL_WEAK int64_t spl_array_len(const SplArray* array) { return array == nullptr ? 0 : array->len; }

SPL_WEAK SplValue spl_array_get(const SplArray* array, int64_t index) {
  const bool is_inside = index >= 0 && index < spl_array_len(array) && array->items != nullptr;
  return is_inside ? array->items[index] : SplValue{};
}

SPL_WEAK int64_t spl_as_int(SplValue value) {
  switch (value.tag) {
    case SPL_INT:
      return value.as_int;
    case SPL_FLOAT:
      return static_cast<int64_t>(value.as_float);
    case SPL_BOOL:
      return value.as_bool ? 1 : 0;
    default:
      return 0;
  }
}

SPL_WEAK double spl_as_float(SplValue value) {
  return value.tag == SPL_FLOAT ? value.as_float : static_cast<double>(spl_as_int(value));
}

SPL_WEAK const SplInterruptService* spl_interrupt_service() { return nullptr; }

SPL_WEAK char* spl_str_new(const char* text) { return text == nullptr ? nullptr : strdup(text); }

SPL_WEAK void spl_array_free(SplArray* array) {
  if (array == nullptr) {
    return;
  }
  for (int64_t i = 0; i < array->len; ++i) {
    if (array->items[i].tag == SPL_STRING) {
      std::free(array->items[i].as_string);
    } else if (array->items[i].tag == SPL_ARRAY) {
      spl_array_free(array->items[i].as_array);
    }
  }
  std::free(array->items);
  std::free(array);
}

}  // extern "C"
