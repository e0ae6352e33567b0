// Simple's arrays as foreign code may have filled them in.
#pragma once

#include <c10/util/ArrayRef.h>

#include <string>

#include "core_libtorch/error.h"
#include "simple_torch/spl_runtime.h"

namespace simple_torch::abi {

/// The items; NULL is the empty array. Throws Error(kInvalidArgument) for a length that cannot be.
inline c10::ArrayRef<SplValue> items_of(const SplArray* array) {
  if (array == nullptr || array->len == 0) {
    return {};
  }
  if (array->len < 0 || array->items == nullptr) {
    throw Error(ErrorKind::kInvalidArgument, "an array has a length of " + std::to_string(array->len) +
                                                 (array->len < 0 ? "" : " and no items"));
  }
  return {array->items, static_cast<size_t>(array->len)};
}

/// One level of arrays in arrays. Throws Error(kInvalidArgument) where they nest without end, as one that
/// holds itself does.
class Nested {
 public:
  Nested() {
    if (depth >= kMost) {
      throw Error(ErrorKind::kInvalidArgument,
                  "arrays are nested more than " + std::to_string(kMost) + " deep, or one holds itself");
    }
    ++depth;
  }
  ~Nested() { --depth; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  static constexpr int kMost = 100;
  static inline thread_local int depth = 0;
};

}  // namespace simple_torch::abi
