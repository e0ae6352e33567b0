// The helpers of a Simple runtime that libspl_torch.so defines for other programs.
#include <gtest/gtest.h>

#include <cstdlib>

#include "simple_torch/spl_runtime.h"

namespace {

TEST(RuntimeHelpers, IgnoreNull) {
  SplValue value{};
  value.tag = SPL_INT;
  value.as_int = 3;
  spl_array_push(nullptr, value);
  spl_array_push_i64(nullptr, 3);
  spl_array_free(nullptr);
  EXPECT_EQ(spl_array_len(nullptr), 0);
  EXPECT_EQ(spl_array_get(nullptr, 0).tag, SplValue{}.tag);
  EXPECT_EQ(spl_str_new(nullptr), nullptr);
}

TEST(RuntimeHelpers, ReadNoItemsThatAreNotThere) {
  SplArray array{};
  array.len = -1;  // the ABI's functions reject it
  EXPECT_EQ(spl_array_get(&array, 0).tag, SplValue{}.tag);
  array.len = 5;  // without items
  EXPECT_EQ(spl_array_get(&array, 2).tag, SplValue{}.tag);
}

TEST(RuntimeHelpers, GrowArrays) {
  SplArray* array = spl_array_new_i64();
  for (int64_t i = 0; i < 100; ++i) {
    spl_array_push_i64(array, i * i);
  }
  ASSERT_EQ(spl_array_len(array), 100);
  EXPECT_EQ(spl_as_int(spl_array_get(array, 99)), 99 * 99);
  EXPECT_EQ(spl_as_float(spl_array_get(array, 2)), 4.0);
  EXPECT_EQ(spl_array_get(array, 100).tag, SplValue{}.tag);
  EXPECT_EQ(spl_array_get(array, -1).tag, SplValue{}.tag);
  spl_array_free(array);
}

}  // namespace
