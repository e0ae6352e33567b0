// Validated access to Simple's arrays and values, which foreign code may have filled.
#pragma once

#include <c10/util/ArrayRef.h>

#include <string>

#include "core_libtorch/error.h"
#include "simple_torch/spl_runtime.h"

namespace simple_torch::abi {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_invalid_length(const SplArray& array) {
  throw Error(ErrorKind::kInvalidArgument, (array.len < 0 ? "array length must be non-negative, got "
                                                          : "array items is NULL, and length is ") +
                                               std::to_string(array.len));
}

/// The items; NULL is the empty array. Throws Error(kInvalidArgument) for an invalid length.
inline c10::ArrayRef<SplValue> items_of(const SplArray* array) {
  if (array == nullptr || array->len == 0) {
    return {};
  }
  if (array->len < 0 || array->items == nullptr) {
    throw_invalid_length(*array);
  }
  return {array->items, static_cast<size_t>(array->len)};
}

/// The string of a value whose tag is SPL_STRING. Throws Error(kInvalidArgument) if it is NULL.
inline const char* string_of(const SplValue& item) {
  if (item.as_string == nullptr) {
    throw Error(ErrorKind::kInvalidArgument, "the string of a value is NULL");
  }
  return item.as_string;
}

/// Counts the nesting level of arrays. Throws Error(kInvalidArgument) above the limit, as for an array that
/// contains itself.
class NestingLevel {
 public:
  NestingLevel() {
    if (depth >= kMaxDepth) {
      throw Error(ErrorKind::kInvalidArgument, "arrays are nested more than " + std::to_string(kMaxDepth) +
                                                   " levels deep, or an array contains itself");
    }
    ++depth;
  }
  ~NestingLevel() { --depth; }
  NestingLevel(const NestingLevel&) = delete;
  NestingLevel& operator=(const NestingLevel&) = delete;

 private:
  static constexpr int kMaxDepth = 100;
  static inline thread_local int depth = 0;
};

}  // namespace simple_torch::abi
