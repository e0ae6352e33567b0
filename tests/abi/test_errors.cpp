// Each kind of error once: status, message and fields. A failed call writes nothing.
#include <thread>

#include "simple_torch/simple_api.h"
#include "tests/abi/capi_test.h"

namespace {

using ::testing::HasSubstr;

class Errors : public CApiTest {
 protected:
  int64_t out_ = kUntouched;
  void TearDown() override {
    EXPECT_EQ(out_, kUntouched) << "a failed call must not write";
    CApiTest::TearDown();
  }
};

TEST_F(Errors, DifferentInnerSizesAreAShapeMismatch) {
  const Handle a = zeros({2, 3});
  const Handle b = zeros({4, 5});
  EXPECT_EQ(spt_matmul(a, b, &out_), SPT_SHAPE_MISMATCH);
  EXPECT_EQ(spt_last_error_kind(), SPT_SHAPE_MISMATCH);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"));
  EXPECT_EQ(field("op"), "matmul");
  EXPECT_EQ(field("expected"), "[2, 3]");
  EXPECT_EQ(field("got"), "[4, 5]");
}

TEST_F(Errors, ShapesThatDoNotBroadcastAreAShapeMismatch) {
  const Handle a = zeros({2, 3});
  const Handle b = zeros({4});
  EXPECT_EQ(spt_add(a, b, &out_), SPT_SHAPE_MISMATCH);
  EXPECT_STREQ(spt_last_error_message(),
               "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1");
  EXPECT_EQ(field("got"), "[4]");
}

TEST_F(Errors, ADifferentNumberOfElementsIsAShapeMismatch) {
  const Handle a = zeros({2, 3});
  const int64_t dims[] = {4, 2};
  EXPECT_EQ(spt_reshape(a, dims, 2, &out_), SPT_SHAPE_MISMATCH);
  EXPECT_STREQ(spt_last_error_message(), "shape '[4, 2]' is invalid for input of size 6");
  EXPECT_EQ(field("expected"), "[4, 2]");
  EXPECT_EQ(field("got"), "[2, 3]");
}

TEST_F(Errors, AViewThatNeedsACopyIsAShapeMismatch) {
  const Handle a = zeros({2, 3});
  const Handle turned = create(spt_t, static_cast<int64_t>(a));
  const int64_t dims[] = {6};
  EXPECT_EQ(spt_view(turned, dims, 1, &out_), SPT_SHAPE_MISMATCH);
  const Handle copied = create(spt_view_or_copy, static_cast<int64_t>(turned), dims, int64_t{1});
  EXPECT_EQ(shape(copied), std::vector<int64_t>{6});
}

TEST_F(Errors, TooFewValuesForTheShapeAreAShapeMismatch) {
  const double data[] = {1, 2, 3};
  const int64_t dims[] = {2, 2};
  EXPECT_EQ(spt_from_data(data, 3, dims, 2, &out_), SPT_SHAPE_MISMATCH);
  EXPECT_STREQ(spt_last_error_message(), "the shape has 4 elements, got 3 values");
}

TEST_F(Errors, DifferentDtypesAreADtypeMismatch) {
  const Handle a = zeros({2, 2});
  const Handle b = create(spt_to_float, static_cast<int64_t>(a));
  EXPECT_EQ(spt_matmul(a, b, &out_), SPT_DTYPE_MISMATCH);
  EXPECT_EQ(field("expected"), "Float");
  EXPECT_EQ(field("got"), "Double");
}

TEST_F(Errors, RequiresGradOnAnIntegerTensorIsADtypeMismatch) {
  const Handle a = integers({1, 2}, {2});
  EXPECT_EQ(spt_set_requires_grad(a, true), SPT_DTYPE_MISMATCH);
}

TEST_F(Errors, DifferentDevicesAreADeviceMismatch) {
  const Handle a = zeros({2});
  const Handle meta = create(spt_to_device, static_cast<int64_t>(a), "meta");
  EXPECT_EQ(spt_copy_(a, meta), SPT_NOT_IMPLEMENTED) << "meta tensors have no values to copy";
  EXPECT_EQ(spt_set_grad(a, meta), SPT_DEVICE_MISMATCH);
  EXPECT_EQ(field("expected"), "cpu");
  EXPECT_EQ(field("got"), "meta");
}

TEST_F(Errors, AMissingDimensionIsIndexOutOfRange) {
  const Handle a = zeros({2, 3});
  EXPECT_EQ(spt_softmax(a, 5, &out_), SPT_INDEX_OUT_OF_RANGE);
  EXPECT_STREQ(spt_last_error_message(),
               "Dimension out of range (expected to be in range of [-2, 1], but got 5)");
}

TEST_F(Errors, AMissingIndexIsIndexOutOfRange) {
  const Handle a = zeros({2, 3});
  const Handle places = integers({7}, {1});
  EXPECT_EQ(spt_select(a, 0, 9, &out_), SPT_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(spt_index_select(a, 0, places, &out_), SPT_INDEX_OUT_OF_RANGE);
}

TEST_F(Errors, AnExcessiveAllocationIsOutOfMemoryWithItsBytes) {
  const int64_t dims[] = {1000000, 1000000, 100};
  EXPECT_EQ(spt_zeros(dims, 3, &out_), SPT_OUT_OF_MEMORY);
  EXPECT_EQ(field("requested_bytes"), "400000000000000");
  EXPECT_GT(std::stoll(field("available_bytes")), 0);
}

TEST_F(Errors, ANegativeSizeIsAnInvalidArgument) {
  const int64_t dims[] = {2, -3};
  EXPECT_EQ(spt_zeros(dims, 2, &out_), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_zeros(dims, -1, &out_), SPT_INVALID_ARGUMENT);
}

TEST_F(Errors, NullPointersAreInvalidArguments) {
  const Handle a = zeros({2});
  EXPECT_EQ(spt_neg(a, nullptr), SPT_INVALID_ARGUMENT);
  EXPECT_STREQ(spt_last_error_message(), "out is NULL");
  EXPECT_EQ(spt_zeros(nullptr, 2, &out_), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_to_device(a, nullptr, &out_), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_available(nullptr), SPT_INVALID_ARGUMENT);
}

TEST_F(Errors, BackwardWithoutRequiresGradIsAnInvalidArgument) {
  const Handle a = zeros({1});
  EXPECT_EQ(spt_backward(a), SPT_INVALID_ARGUMENT);
  const Handle many = parameter({1, 2}, {2});
  EXPECT_EQ(spt_backward(many), SPT_INVALID_ARGUMENT);
  EXPECT_STREQ(spt_last_error_message(), "grad can be implicitly created only for scalar outputs");
}

TEST_F(Errors, TheItemOfSeveralElementsIsAnInvalidArgument) {
  const Handle a = zeros({2});
  double value = 0;
  EXPECT_EQ(spt_item(a, &value), SPT_INVALID_ARGUMENT);
}

TEST_F(Errors, ATensorIsNotItsOwnGradient) {
  const Handle a = parameter({1}, {1});
  EXPECT_EQ(spt_set_grad(a, a), SPT_INVALID_ARGUMENT);
  EXPECT_STREQ(spt_last_error_message(), "can't assign Variable as its own grad");
}

TEST_F(Errors, TheDefaultDtypeHasACode) { EXPECT_EQ(spt_set_default_dtype(-1), SPT_INVALID_ARGUMENT); }

TEST_F(Errors, EmptyChunksAndSplitsAreInvalidArguments) {
  const Handle a = zeros({2});
  int64_t* parts = nullptr;
  int64_t count = 0;
  EXPECT_EQ(spt_chunk(a, 0, 0, &parts, &count), SPT_INVALID_ARGUMENT) << spt_last_error_message();
  EXPECT_EQ(spt_split(a, 0, 0, &parts, &count), SPT_INVALID_ARGUMENT) << spt_last_error_message();
}

TEST_F(Errors, WrongCodesAndNamesAreInvalidArguments) {
  const Handle a = zeros({2});
  int64_t code = 0;
  EXPECT_EQ(spt_to_dtype(a, 999, &out_), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_dtype_code("float33", &code), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_to_device(a, "toaster", &out_), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_mse_loss(a, a, 3, &out_), SPT_INVALID_ARGUMENT);
}

TEST_F(Errors, AMissingDeviceIsUnavailableAndTheAvailableOnesAreNamed) {
  const Handle a = zeros({2});
  EXPECT_EQ(spt_to_device(a, "cuda:77", &out_), SPT_UNAVAILABLE);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("no device cuda:77; available devices: cpu"));
}

TEST_F(Errors, MissingKernelsAreNotImplemented) {
  const Handle a = integers({1, 2}, {2});
  EXPECT_EQ(spt_softmax(a, 0, &out_), SPT_NOT_IMPLEMENTED);
}

TEST_F(Errors, FailedFactorizationsAreLinAlg) {
  const Handle singular = zeros({2, 2});
  EXPECT_EQ(spt_inverse(singular, &out_), SPT_LIN_ALG);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("singular"));
  EXPECT_THAT(spt_last_error_message(), Not(HasSubstr("frame #"))) << "no C++ backtrace";
}

TEST_F(Errors, AreSeparateForEachThread) {
  EXPECT_EQ(spt_neg(0, &out_), SPT_INVALID_HANDLE);
  std::thread([] { EXPECT_EQ(spt_last_error_kind(), SPT_OK); }).join();
  EXPECT_EQ(spt_last_error_kind(), SPT_INVALID_HANDLE);
}

TEST_F(Errors, AreClearedByTheNextCallFromSimpleButNotByReaders) {
  EXPECT_EQ(rt_torch_torchtensor_neg(0), 0);
  EXPECT_EQ(rt_torch_last_error_kind(), SPT_INVALID_HANDLE);
  EXPECT_EQ(take_string(rt_torch_last_error_message()), "handle 0 refers to no value");
  EXPECT_EQ(rt_torch_last_error_kind(), SPT_INVALID_HANDLE);
  const Handle a(rt_torch_tensor_eye(2));
  EXPECT_EQ(rt_torch_last_error_kind(), 0);
  EXPECT_EQ(take_string(rt_torch_last_error_message()), "");
}

TEST_F(Errors, UnknownFieldsAreEmpty) {
  EXPECT_EQ(spt_neg(0, &out_), SPT_INVALID_HANDLE);
  EXPECT_STREQ(spt_last_error_field("color"), "");
  EXPECT_STREQ(spt_last_error_field(nullptr), "");
  EXPECT_STREQ(spt_last_error_field("requested_bytes"), "");
}

}  // namespace
