// Typed functions that tests/opinfo/test_typed_names.py does not compare with Python, because their arguments
// are codes or depend on each other. Expected values are arithmetic.
#include "tests/abi/capi_test.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

class Typed : public CApiTest {
 protected:
  static constexpr int64_t kFloat64 = 7, kCpu = -1;
  static constexpr int64_t kTwo[] = {2};
};

TEST_F(Typed, CreateTensorsOfADtypeOnADevice) {
  using Make = int32_t (*)(const int64_t*, int64_t, int64_t, int64_t, int64_t*);
  for (const Make make :
       {Make{spt_zeros_as}, Make{spt_ones_as}, Make{spt_rand_as}, Make{spt_randn_as}, Make{spt_empty_as}}) {
    const Handle a = create(make, kTwo, int64_t{1}, kFloat64, kCpu);
    EXPECT_EQ(dtype(a), "float64");
    EXPECT_THAT(shape(a), ElementsAre(2));
  }
  EXPECT_THAT(values(create(spt_zeros_as, kTwo, int64_t{1}, kFloat64, kCpu)), ElementsAre(0, 0));
  EXPECT_THAT(values(create(spt_ones_as, kTwo, int64_t{1}, kFloat64, kCpu)), ElementsAre(1, 1));
  EXPECT_THAT(values(create(spt_full_as, kTwo, int64_t{1}, 2.5, kFloat64, kCpu)), ElementsAre(2.5, 2.5));
  EXPECT_THAT(values(create(spt_arange_as, 1.0, 4.0, 1.5, kFloat64, kCpu)), ElementsAre(1, 2.5));
  int64_t out = kUntouched;
  EXPECT_EQ(spt_zeros_as(kTwo, 1, 999, kCpu, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_zeros_as(kTwo, 1, kFloat64, -2, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
}

TEST_F(Typed, RandomTensorsFollowTheSeed) {
  const auto draws = [](auto make) {
    EXPECT_EQ(spt_manual_seed(5), SPT_OK);
    return values(create(make, kTwo, int64_t{1}, kFloat64, kCpu));
  };
  EXPECT_EQ(draws(spt_rand_as), draws(spt_rand_as));
  EXPECT_EQ(draws(spt_randn_as), draws(spt_randn_as));
  EXPECT_NE(draws(spt_rand_as), draws(spt_randn_as));
}

TEST_F(Typed, MeshAlongADimension) {
  const Handle a = tensor({1, 3, 2, 6}, {2, 2});
  const int64_t last[] = {1};
  EXPECT_THAT(values(create(spt_var_dim, int64_t{a}, last, int64_t{1}, int64_t{1}, false)),
              ElementsAre(2, 8));
  EXPECT_THAT(values(create(spt_var_dim, int64_t{a}, last, int64_t{1}, int64_t{0}, true)), ElementsAre(1, 4));
  EXPECT_THAT(values(create(spt_std_dim, int64_t{a}, last, int64_t{1}, int64_t{0}, false)),
              ElementsAre(1, 2));
}

TEST_F(Typed, EinsumMultipliesMatrices) {
  const Handle a = tensor({1, 2, 3, 4}, {2, 2}), b = tensor({1, 0, 0, 2}, {2, 2});
  const int64_t both[] = {a, b};
  EXPECT_THAT(values(create(spt_einsum, "ij,jk->ik", both, int64_t{2})), ElementsAre(1, 4, 3, 8));
  int64_t out = kUntouched;
  EXPECT_EQ(spt_einsum(nullptr, both, 2, &out), SPT_INVALID_ARGUMENT);
  EXPECT_NE(spt_einsum("ij,jk,kl->il", both, 2, &out), SPT_OK);
}

TEST_F(Typed, ConvolveAlongALine) {
  const int64_t one[] = {1}, none[] = {0};
  const Handle input = tensor({1, 2, 3, 4}, {1, 1, 4}), weight = tensor({1, -1}, {1, 1, 2}),
               bias = tensor({10}, {1});
  EXPECT_THAT(values(create(spt_conv1d, int64_t{input}, int64_t{weight}, int64_t{bias}, one, int64_t{1}, none,
                            int64_t{1}, one, int64_t{1}, int64_t{1})),
              ElementsAre(9, 9, 9));
}

TEST_F(Typed, NormalizeToMeanZeroAndVarianceOne) {
  const Handle a = tensor({1, 3, 5, 7}, {2, 2});
  const Handle mean = tensor({0, 0}, {2}), variance = tensor({1, 1}, {2});
  const std::vector<double> expected{-1, -1, 1, 1};  // (x - mean) / deviation, for columns (1, 5) and (3, 7)
  EXPECT_THAT(values(create(spt_batch_norm, int64_t{a}, int64_t{mean}, int64_t{variance}, int64_t{0},
                            int64_t{0}, true, 0.5, 0.0)),
              Pointwise(::testing::DoubleNear(1e-6), expected));
  EXPECT_THAT(values(mean), ElementsAre(1.5, 2.5)) << "momentum 0.5: half of the batch means 3 and 5";
  EXPECT_THAT(values(create(spt_layer_norm, int64_t{a}, kTwo, int64_t{1}, int64_t{0}, int64_t{0}, 0.0)),
              Pointwise(::testing::DoubleNear(1e-6), std::vector<double>{-1, 1, -1, 1}));
}

TEST_F(Typed, AttentionWithoutScoresIsTheMean) {
  const Handle query = zeros({1, 1, 2}), key = zeros({1, 2, 2}), value = tensor({1, 2, 3, 6}, {1, 2, 2});
  EXPECT_THAT(values(create(spt_scaled_dot_product_attention, int64_t{query}, int64_t{key}, int64_t{value},
                            int64_t{0}, 0.0, false)),
              ElementsAre(2, 4));
}

TEST_F(Typed, NllIsTheTargetsNegativeLogProbability) {
  constexpr int64_t kMean = 1, kIgnored = -100;
  const Handle input = tensor({-1, -2, -3, -5}, {2, 2}), target = integers({1, 0}, {2});
  EXPECT_THAT(values(create(spt_nll_loss, int64_t{input}, int64_t{target}, int64_t{0}, kMean, kIgnored)),
              ElementsAre(2.5));
}

TEST_F(Typed, ReportTensorProperties) {
  const Handle a = integers({7}, {1});
  int64_t number = 0;
  char* device = nullptr;
  char* version = nullptr;
  bool is_leaf = false;
  ASSERT_EQ(spt_item_int(a, &number), SPT_OK);
  ASSERT_EQ(spt_device_text(a, &device), SPT_OK);
  char* layout = nullptr;
  ASSERT_EQ(spt_layout(a, &layout), SPT_OK);
  EXPECT_EQ(take_string(layout), "torch.strided");
  ASSERT_EQ(spt_is_leaf(a, &is_leaf), SPT_OK);
  ASSERT_EQ(spt_version(&version), SPT_OK);
  EXPECT_EQ(number, 7);
  EXPECT_EQ(take_string(device), "cpu");
  EXPECT_TRUE(is_leaf);
  EXPECT_THAT(take_string(version), HasSubstr("2."));
}

TEST_F(Typed, MoveToDevicesByCode) {
  const Handle a = tensor({1, 2}, {2});
  bool is_cuda = true;
  ASSERT_EQ(spt_is_cuda(a, &is_cuda), SPT_OK);
  EXPECT_FALSE(is_cuda);
  int64_t out = kUntouched;
  EXPECT_EQ(spt_cuda(a, 99, &out), SPT_UNAVAILABLE);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("no device cuda:99; available devices: cpu"));
  EXPECT_EQ(out, kUntouched);
  EXPECT_THAT(values(create(spt_cuda, int64_t{a}, int32_t{-1})), ElementsAre(1, 2)) << "-1 is the CPU";
}

class Subscripts : public CApiTest {
 protected:
  Subscripts() : keys_(spl_array_new()) {}
  ~Subscripts() override { spl_array_free(keys_); }
  SplArray* with(std::initializer_list<int64_t> numbers) {
    for (const int64_t number : numbers) {
      spl_array_push_i64(keys_, number);
    }
    return keys_;
  }

 private:
  SplArray* keys_;
};

TEST_F(Subscripts, ReadAnElement) {
  const Handle a = tensor({1, 2, 3, 4}, {2, 2});
  EXPECT_THAT(values(create(spt_get_item, int64_t{a}, "vv", with({1, 0}))), ElementsAre(3));
}

TEST_F(Subscripts, WriteAnElement) {
  const Handle a = tensor({1, 2, 3, 4}, {2, 2});
  ASSERT_EQ(spt_set_item(a, "vvv", with({9, 0, 1})), SPT_OK) << spt_last_error_message();
  EXPECT_THAT(values(a), ElementsAre(1, 9, 3, 4));
}

TEST_F(Subscripts, AssignAnElement) {
  const Handle a = tensor({1, 2, 3, 4}, {2, 2});
  int64_t out = 0;
  ASSERT_EQ(spt_assign_item(a, "vvv", with({9, 0, 1}), &out), SPT_OK) << spt_last_error_message();
  EXPECT_EQ(out, 1);
  EXPECT_THAT(values(a), ElementsAre(1, 9, 3, 4));
}

TEST_F(Subscripts, RejectInvalidSubscripts) {
  const Handle a = tensor({1, 2}, {2});
  int64_t out = kUntouched;
  EXPECT_EQ(spt_get_item(a, "vv", nullptr, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_set_item(a, "", nullptr), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("set_item: value is missing"));
  EXPECT_EQ(spt_get_item(a, "v", with({5}), &out), SPT_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(out, kUntouched);
}

}  // namespace
