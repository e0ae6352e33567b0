// DLPack through the C ABI: shared memory, validation of every field, each deleter called exactly once.
#include <ATen/dlpack.h>

#include <atomic>
#include <functional>
#include <thread>

#include "tests/abi/capi_test.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A tensor of a foreign producer; counts its deletions.
struct Foreign {
  float data[6] = {1, 2, 3, 4, 5, 6};
  int64_t shape[2] = {2, 3};
  int64_t strides[2] = {3, 1};
  std::atomic<int> deleted{0};
  DLManagedTensorVersioned versioned{};
  DLManagedTensor legacy{};

  Foreign() {
    versioned.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    versioned.manager_ctx = this;
    versioned.deleter = [](DLManagedTensorVersioned* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
    versioned.dl_tensor = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 0};
    legacy.dl_tensor = versioned.dl_tensor;
    legacy.manager_ctx = this;
    legacy.deleter = [](DLManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
  }
};

class Dlpack : public CApiTest {
 protected:
  static DLManagedTensorVersioned* exported(int64_t handle, bool copy = false) {
    DLManagedTensorVersioned* out = nullptr;
    EXPECT_EQ(spt_to_dlpack(handle, copy, &out), SPT_OK) << spt_last_error_message();
    return out;
  }
};

TEST_F(Dlpack, ExportsTheTensorsMemory) {
  const Handle a = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  DLManagedTensorVersioned* managed = exported(a);
  EXPECT_EQ(managed->version.major, 1U);
  EXPECT_EQ(managed->flags, 0U);
  EXPECT_EQ(managed->dl_tensor.data, data_ptr(a));
  EXPECT_EQ(managed->dl_tensor.ndim, 2);
  EXPECT_EQ(managed->dl_tensor.shape[1], 3);
  EXPECT_EQ(managed->dl_tensor.strides[0], 3);
  EXPECT_EQ(managed->dl_tensor.dtype.code, kDLFloat);
  EXPECT_EQ(managed->dl_tensor.dtype.bits, 32);
  static_cast<float*>(managed->dl_tensor.data)[0] = 42;
  EXPECT_EQ(values(a).front(), 42) << "a write on one side is visible on the other";
  managed->deleter(managed);
}

TEST_F(Dlpack, ExportsViewsOfViews) {
  const Handle a = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  const Handle turned = create(spt_t, int64_t{a});
  const Handle column = create(spt_select, int64_t{turned}, int64_t{0}, int64_t{1});
  DLManagedTensorVersioned* managed = exported(column);
  EXPECT_EQ(managed->dl_tensor.data, static_cast<float*>(data_ptr(a)) + 1);
  EXPECT_EQ(managed->dl_tensor.ndim, 1);
  EXPECT_EQ(managed->dl_tensor.shape[0], 2);
  EXPECT_EQ(managed->dl_tensor.strides[0], 3);
  static_cast<float*>(managed->dl_tensor.data)[3] = 50;
  EXPECT_THAT(values(a), ElementsAre(1, 2, 3, 4, 50, 6));
  managed->deleter(managed);
}

TEST_F(Dlpack, KeepsTheMemoryOfAReleasedTensorAlive) {
  Handle a = tensor({1, 2}, {2});
  DLManagedTensorVersioned* managed = exported(a);
  a = Handle();
  EXPECT_EQ(static_cast<float*>(managed->dl_tensor.data)[1], 2);
  std::thread([managed] { managed->deleter(managed); }).join();
}

TEST_F(Dlpack, ImportsItsOwnExportAsTheSameMemory) {
  const Handle a = tensor({1, 2, 3, 4}, {2, 2});
  const Handle turned = create(spt_t, int64_t{a});
  const Handle back = create(spt_from_dlpack, exported(turned));
  EXPECT_EQ(data_ptr(back), data_ptr(a));
  EXPECT_THAT(values(back), ElementsAre(1, 3, 2, 4)) << "strides are kept";
  ASSERT_EQ(spt_fill_(a, 9), SPT_OK);
  EXPECT_THAT(values(back), ElementsAre(9, 9, 9, 9));
}

TEST_F(Dlpack, CopiesOnRequestAndSetsTheFlag) {
  const Handle a = tensor({1, 2}, {2});
  DLManagedTensorVersioned* copied = exported(a, true);
  EXPECT_EQ(copied->flags, DLPACK_FLAG_BITMASK_IS_COPIED);
  EXPECT_NE(copied->dl_tensor.data, data_ptr(a));
  const Handle back = create(spt_from_dlpack, copied);
  DLManagedTensorVersioned* again = exported(back);
  EXPECT_EQ(again->flags, 0U) << "it is exported now, and the consumer is not its only user";
  again->deleter(again);
}

TEST_F(Dlpack, CopiesReadOnlyCopiesAgain) {
  constexpr uint64_t kFlags = DLPACK_FLAG_BITMASK_IS_COPIED | DLPACK_FLAG_BITMASK_READ_ONLY;
  Foreign foreign;
  foreign.versioned.flags = kFlags;
  const Handle theirs = create(spt_from_dlpack, &foreign.versioned);
  EXPECT_NE(spt_fill_(theirs, 9), SPT_OK);
  DLManagedTensorVersioned* again = exported(theirs);
  EXPECT_EQ(again->flags, DLPACK_FLAG_BITMASK_READ_ONLY) << "this one stays";
  again->deleter(again);
}

TEST_F(Dlpack, CountsAndReportsCopies) {
  const auto report = [](int32_t (*ask)(char**)) {
    char* text = nullptr;
    EXPECT_EQ(ask(&text), SPT_OK);
    return take_string(text);
  };
  int64_t before = 0;
  int64_t after = 0;
  const Handle a = tensor({1, 2, 3}, {3});
  ASSERT_EQ(spt_dlpack_copied_bytes(&before), SPT_OK);
  const Handle shared = create(spt_from_dlpack, exported(a));
  EXPECT_EQ(report(spt_dlpack_import_path), "a DLPack structure");
  EXPECT_EQ(report(spt_dlpack_why_copied), "");
  ASSERT_EQ(spt_dlpack_copied_bytes(&after), SPT_OK);
  EXPECT_EQ(after, before);
  const Handle copied = create(spt_from_dlpack, exported(a, true));
  EXPECT_THAT(report(spt_dlpack_why_copied), HasSubstr("IS_COPIED"));
  ASSERT_EQ(spt_dlpack_copied_bytes(&after), SPT_OK);
  EXPECT_EQ(after, before + 12) << "one copy, although it was exported and imported";
  Foreign foreign;
  foreign.versioned.flags = DLPACK_FLAG_BITMASK_IS_COPIED;
  const Handle theirs = create(spt_from_dlpack, &foreign.versioned);
  ASSERT_EQ(spt_dlpack_copied_bytes(&after), SPT_OK);
  EXPECT_EQ(after, before + 12 + 24) << "the producer's copy was for this import";
  std::thread([&] { EXPECT_EQ(report(spt_dlpack_import_path), "") << "each thread's own"; }).join();
}

TEST_F(Dlpack, ImportsForeignMemoryWithoutACopyAndDeletesOnce) {
  Foreign foreign;
  {
    const Handle a = create(spt_from_dlpack, &foreign.versioned);
    EXPECT_EQ(data_ptr(a), foreign.data);
    foreign.data[5] = 60;
    EXPECT_THAT(values(a), ElementsAre(1, 2, 3, 4, 5, 60));
    ASSERT_EQ(spt_zero_(a), SPT_OK);
    EXPECT_EQ(foreign.data[0], 0);
    const Handle view = create(spt_select, int64_t{a}, int64_t{0}, int64_t{0});
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST_F(Dlpack, ImportsLegacyStructuresAndNullStrides) {
  Foreign foreign;
  foreign.legacy.dl_tensor.strides = nullptr;
  {
    const Handle a = create(spt_from_dlpack_legacy, &foreign.legacy);
    EXPECT_THAT(values(a), ElementsAre(1, 2, 3, 4, 5, 6));
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST_F(Dlpack, ImportsByteOffsetsBroadcastsScalarsAndEmptyTensors) {
  Foreign offset;
  offset.versioned.dl_tensor.byte_offset = 8;
  offset.versioned.dl_tensor.ndim = 1;
  offset.shape[0] = 2;
  offset.strides[0] = 1;
  EXPECT_THAT(values(create(spt_from_dlpack, &offset.versioned)), ElementsAre(3, 4));
  Foreign broadcast;
  broadcast.strides[0] = 0;
  EXPECT_THAT(values(create(spt_from_dlpack, &broadcast.versioned)), ElementsAre(1, 2, 3, 1, 2, 3));
  Foreign scalar;
  scalar.versioned.dl_tensor.ndim = 0;
  scalar.versioned.dl_tensor.shape = nullptr;
  scalar.versioned.dl_tensor.strides = nullptr;
  EXPECT_THAT(values(create(spt_from_dlpack, &scalar.versioned)), ElementsAre(1));
  Foreign empty;
  empty.shape[0] = 0;
  empty.versioned.dl_tensor.data = nullptr;
  EXPECT_EQ(shape(create(spt_from_dlpack, &empty.versioned)), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(offset.deleted + broadcast.deleted + scalar.deleted + empty.deleted, 4);
}

TEST_F(Dlpack, EnforcesAndExportsReadOnly) {
  Foreign foreign;
  foreign.versioned.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  {
    const Handle a = create(spt_from_dlpack, &foreign.versioned);
    EXPECT_THAT(values(a), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_EQ(spt_fill_(a, 7), SPT_INVALID_ARGUMENT);
    EXPECT_THAT(spt_last_error_message(), HasSubstr("the tensor is read-only"));
    EXPECT_THAT(spt_last_error_message(), HasSubstr("use its .clone()"));
    EXPECT_EQ(foreign.data[0], 1);
    DLManagedTensorVersioned* again = exported(a);
    EXPECT_EQ(again->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
    again->deleter(again);
    DLManagedTensor* legacy = nullptr;
    EXPECT_EQ(spt_to_dlpack_legacy(a, &legacy), SPT_INVALID_ARGUMENT);
    EXPECT_THAT(spt_last_error_message(), HasSubstr("read-only"));
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST_F(Dlpack, RejectsUnsupportedTensorsWithAHint) {
  const Handle weight = parameter({1}, {1});
  DLManagedTensorVersioned* out = nullptr;
  EXPECT_EQ(spt_to_dlpack(weight, false, &out), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(),
              HasSubstr("Can't export tensors that require gradient, use tensor.detach()"));
  const Handle meta = create(spt_to_device, int64_t{zeros({2})}, "meta");
  EXPECT_EQ(spt_to_dlpack(meta, false, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_to_dlpack(weight, false, nullptr), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, nullptr);
}

TEST_F(Dlpack, FillsABorrowedView) {
  const Handle a = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  const Handle b = create(spt_transpose, int64_t{a}, int64_t{0}, int64_t{1});
  DLTensor view{};
  ASSERT_EQ(spt_dlpack_view(b, &view), SPT_OK) << spt_last_error_message();
  EXPECT_EQ(view.ndim, 2);
  EXPECT_EQ(view.shape[0], 3);
  EXPECT_EQ(view.strides[0], 1);
  EXPECT_EQ(view.strides[1], 3);
  EXPECT_EQ(view.dtype.code, kDLFloat);
  EXPECT_EQ(view.device.device_type, kDLCPU);
  static_cast<float*>(view.data)[1] = 20;
  EXPECT_THAT(values(a), ElementsAre(1, 20, 3, 4, 5, 6));
  EXPECT_EQ(spt_dlpack_view(b, nullptr), SPT_INVALID_ARGUMENT);
}

TEST_F(Dlpack, RejectsViewsOfReadOnlyTensorsAndOfTensorsWithoutStorage) {
  Foreign foreign;
  foreign.versioned.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  DLTensor view{};
  {
    const Handle a = create(spt_from_dlpack, &foreign.versioned);
    EXPECT_EQ(spt_dlpack_view(a, &view), SPT_INVALID_ARGUMENT);
    EXPECT_THAT(spt_last_error_message(), HasSubstr("Can't export read-only tensors as a DLTensor"));
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST_F(Dlpack, RejectsUnmaterializedZeros) {
  int64_t op = 0, count = 0;
  ASSERT_EQ(spt_op_find("_efficientzerotensor", "", &op), SPT_OK);
  SplValue two{};
  two.tag = SPL_INT;
  two.as_int = 2;
  SplArray sizes{&two, 1, 1};
  SplValue list{}, result{};
  list.tag = SPL_ARRAY;
  list.as_array = &sizes;
  ASSERT_EQ(spt_op_call(op, &list, 1, &result, 1, &count), SPT_OK) << spt_last_error_message();
  const Handle zeros_only(result.as_int);
  DLManagedTensorVersioned* out = nullptr;
  EXPECT_EQ(spt_to_dlpack(zeros_only, false, &out), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("Can't export zero tensors without memory"));
  ASSERT_EQ(spt_to_dlpack(zeros_only, true, &out), SPT_OK) << spt_last_error_message();
  EXPECT_EQ(static_cast<const float*>(out->dl_tensor.data)[1], 0.0F);
  out->deleter(out);
}

TEST_F(Dlpack, RoundTripsEveryCommonDtype) {
  for (const char* name :
       {"uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32",
        "float64", "bfloat16", "complex64", "complex128", "bool", "float8_e4m3fn", "float8_e5m2"}) {
    int64_t code = 0;
    ASSERT_EQ(spt_dtype_code(name, &code), SPT_OK);
    const Handle a = create(spt_to_dtype, int64_t{tensor({1, 0, 2}, {3})}, code);
    EXPECT_EQ(dtype(create(spt_from_dlpack, exported(a))), name);
  }
}

struct Hostile {
  const char* name;
  std::function<void(Foreign&)> spoil;
  int32_t status;
  const char* words;
};

class HostileDlpack : public Dlpack, public ::testing::WithParamInterface<Hostile> {};

TEST_P(HostileDlpack, IsRejectedWithTheFieldsNameAndDeletedOnce) {
  Foreign foreign;
  GetParam().spoil(foreign);
  int64_t out = kUntouched;
  EXPECT_EQ(spt_from_dlpack(&foreign.versioned, &out), GetParam().status) << spt_last_error_message();
  EXPECT_THAT(spt_last_error_message(), HasSubstr(GetParam().words));
  EXPECT_EQ(out, kUntouched);
  EXPECT_EQ(foreign.deleted, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, HostileDlpack,
    ::testing::Values(Hostile{"version", [](Foreign& f) { f.versioned.version.major = 2; },
                              SPT_INVALID_ARGUMENT, "version.major must be 1, got 2"},
                      Hostile{"ndim", [](Foreign& f) { f.versioned.dl_tensor.ndim = -1; },
                              SPT_INVALID_ARGUMENT, "ndim must be between 0 and 64, got -1"},
                      Hostile{"many", [](Foreign& f) { f.versioned.dl_tensor.ndim = 1000; },
                              SPT_INVALID_ARGUMENT, "ndim must be between 0 and 64, got 1000"},
                      Hostile{"shape", [](Foreign& f) { f.versioned.dl_tensor.shape = nullptr; },
                              SPT_INVALID_ARGUMENT, "shape must not be NULL if ndim > 0"},
                      Hostile{"size", [](Foreign& f) { f.shape[1] = -3; }, SPT_INVALID_ARGUMENT,
                              "from_dlpack: shape[1] must be non-negative, got -3"},
                      Hostile{"count", [](Foreign& f) { f.shape[0] = f.shape[1] = INT64_MAX; },
                              SPT_INVALID_ARGUMENT, "overflows int64"},
                      Hostile{"stride", [](Foreign& f) { f.strides[0] = -3; }, SPT_INVALID_ARGUMENT,
                              "strides[0] must be non-negative, got -3"},
                      Hostile{"extent", [](Foreign& f) { f.strides[0] = INT64_MAX; }, SPT_INVALID_ARGUMENT,
                              "overflows int64"},
                      Hostile{"lanes", [](Foreign& f) { f.versioned.dl_tensor.dtype.lanes = 4; },
                              SPT_INVALID_ARGUMENT, "dtype.lanes must be 1, got 4"},
                      Hostile{"dtype",
                              [](Foreign& f) {
                                f.versioned.dl_tensor.dtype = {kDLOpaqueHandle, 64, 1};
                              },
                              SPT_DTYPE_MISMATCH, "dtype.code 3"},
                      Hostile{"bits", [](Foreign& f) { f.versioned.dl_tensor.dtype.bits = 7; },
                              SPT_DTYPE_MISMATCH, "dtype.bits 7"},
                      Hostile{"device",
                              [](Foreign& f) { f.versioned.dl_tensor.device.device_type = kDLMetal; },
                              SPT_NOT_IMPLEMENTED, "device.device_type must be 1 (CPU) or 2 (CUDA), got 8"},
                      Hostile{"cpu1", [](Foreign& f) { f.versioned.dl_tensor.device.device_id = 1; },
                              SPT_INVALID_ARGUMENT, "device.device_id must be 0 for the CPU, got 1"},
                      Hostile{"cuda",
                              [](Foreign& f) {
                                f.versioned.dl_tensor.device = {kDLCUDA, 99};
                              },
                              SPT_UNAVAILABLE, "no device cuda:99"},
                      Hostile{"data", [](Foreign& f) { f.versioned.dl_tensor.data = nullptr; },
                              SPT_INVALID_ARGUMENT, "data must not be NULL"},
                      Hostile{"offset", [](Foreign& f) { f.versioned.dl_tensor.byte_offset = UINT64_MAX; },
                              SPT_INVALID_ARGUMENT, "byte_offset"},
                      Hostile{"alignment", [](Foreign& f) { f.versioned.dl_tensor.byte_offset = 2; },
                              SPT_INVALID_ARGUMENT, "must be a multiple of 4 bytes"}),
    [](const auto& tested) { return tested.param.name; });

TEST_F(Dlpack, RejectsNullAndDeletesWithoutAnOutPointer) {
  int64_t out = kUntouched;
  EXPECT_EQ(spt_from_dlpack(nullptr, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_from_dlpack_legacy(nullptr, &out), SPT_INVALID_ARGUMENT);
  Foreign foreign;
  EXPECT_EQ(spt_from_dlpack(&foreign.versioned, nullptr), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(foreign.deleted, 1);
}

TEST_F(Dlpack, WorksBehindHandles) {
  const Handle a = tensor({1, 2}, {2});
  const int64_t managed = create(spt_dlpack_export, int64_t{a}, false).release();
  void* address = nullptr;
  EXPECT_EQ(spt_dlpack_data_ptr(managed, &address), SPT_OK);
  EXPECT_EQ(address, data_ptr(a));
  const Handle back = create(spt_dlpack_import, managed);
  EXPECT_EQ(data_ptr(back), data_ptr(a));
  int64_t out = kUntouched;
  EXPECT_EQ(spt_dlpack_import(managed, &out), SPT_INVALID_HANDLE) << "importing consumed the handle";
  const Handle unused = create(spt_dlpack_export, int64_t{a}, true);
  int64_t flags = 0;
  EXPECT_EQ(spt_dlpack_flags(unused, &flags), SPT_OK);
  EXPECT_EQ(flags, 2);
}

}  // namespace
