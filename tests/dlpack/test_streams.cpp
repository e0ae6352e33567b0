// Stream numbers, by the table of `__dlpack__` in the array API standard (2024.12).
#include <gtest/gtest.h>

#include "dlpack_interop/streams.h"

namespace {

using simple_torch::dlpack::consumer_stream;

bool is_rejected(DLDeviceType device, std::optional<int64_t> number) {
  return consumer_stream(device, number).error != nullptr;
}

bool has_no_order(DLDeviceType device, std::optional<int64_t> number) {
  return !is_rejected(device, number) && !consumer_stream(device, number).is_ordered;
}

std::optional<int64_t> handle(DLDeviceType device, std::optional<int64_t> number) {
  return is_rejected(device, number) || !consumer_stream(device, number).is_ordered
             ? std::nullopt
             : std::optional(consumer_stream(device, number).handle);
}

TEST(Streams, TheCpuHasNone) {
  for (const DLDeviceType device : {kDLCPU, kDLCUDAHost, kDLROCMHost}) {
    EXPECT_TRUE(has_no_order(device, std::nullopt));
    EXPECT_TRUE(has_no_order(device, -1));
    for (const int64_t number : {-2, 0, 1, 2, 1000}) {
      EXPECT_TRUE(is_rejected(device, number)) << number;
    }
  }
}

TEST(Streams, CudaZeroIsAmbiguous) {
  for (const DLDeviceType device : {kDLCUDA, kDLCUDAManaged}) {
    EXPECT_EQ(handle(device, std::nullopt), 1);  // the legacy default stream
    EXPECT_EQ(handle(device, 1), 1);
    EXPECT_EQ(handle(device, 2), 2);
    EXPECT_EQ(handle(device, 0x7f00'0000'1000), 0x7f00'0000'1000);
    EXPECT_TRUE(has_no_order(device, -1));
    EXPECT_TRUE(is_rejected(device, 0));
    EXPECT_TRUE(is_rejected(device, -2));
  }
}

TEST(Streams, RocmZeroIsTheDefault) {
  EXPECT_EQ(handle(kDLROCM, std::nullopt), 0);
  EXPECT_EQ(handle(kDLROCM, 0), 0);
  EXPECT_EQ(handle(kDLROCM, 3), 3);
  EXPECT_TRUE(has_no_order(kDLROCM, -1));
  for (const int64_t number : {1, 2, -2}) {
    EXPECT_TRUE(is_rejected(kDLROCM, number)) << number;
  }
}

}  // namespace
