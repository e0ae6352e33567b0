// Results of operations. Expected values are arithmetic or recorded from Python's PyTorch.
#include <bit>
#include <map>
#include <vector>

#include "tests/abi/capi_test.h"
#include "tests/abi/expected_values.h"

namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Tensors : public CApiTest {};

TEST_F(Tensors, AreMultipliedAsMatrices) {
  const Handle a = tensor({1, 2, 3, 4}, {2, 2});
  const Handle b = tensor({5, 6, 7, 8}, {2, 2});
  EXPECT_THAT(values(create(spt_matmul, int64_t{a}, int64_t{b})), ElementsAre(19, 22, 43, 50));
}

TEST_F(Tensors, AreAddedSubtractedMultipliedAndDivided) {
  const Handle a = tensor({6, 8}, {2});
  const Handle b = tensor({3, 2}, {2});
  EXPECT_THAT(values(create(spt_add, int64_t{a}, int64_t{b})), ElementsAre(9, 10));
  EXPECT_THAT(values(create(spt_sub, int64_t{a}, int64_t{b})), ElementsAre(3, 6));
  EXPECT_THAT(values(create(spt_mul, int64_t{a}, int64_t{b})), ElementsAre(18, 16));
  EXPECT_THAT(values(create(spt_div, int64_t{a}, int64_t{b})), ElementsAre(2, 4));
}

TEST_F(Tensors, KeepAnIntegerDtypeOnlyWithIntegerNumbers) {
  const Handle a = integers({1, 2}, {2});
  EXPECT_EQ(dtype(create(spt_add_int, int64_t{a}, int64_t{1})), "int64");
  EXPECT_EQ(dtype(create(spt_add_scalar, int64_t{a}, 1.0)), "float32");
  EXPECT_THAT(values(create(spt_rsub_int, int64_t{a}, int64_t{10})), ElementsAre(9, 8));
  EXPECT_THAT(values(create(spt_rdiv_scalar, int64_t{a}, 8.0)), ElementsAre(8, 4));
}

TEST_F(Tensors, AreComparedElementByElement) {
  const Handle a = tensor({1, 2, 3}, {3});
  const Handle b = tensor({3, 2, 1}, {3});
  EXPECT_THAT(values(create(spt_lt, int64_t{a}, int64_t{b})), ElementsAre(1, 0, 0));
  EXPECT_THAT(values(create(spt_ge_scalar, int64_t{a}, 2.0)), ElementsAre(0, 1, 1));
  EXPECT_EQ(dtype(create(spt_eq, int64_t{a}, int64_t{b})), "bool");
}

TEST_F(Tensors, HavePyTorchsActivations) {
  const std::map<std::string, int32_t (*)(int64_t, int64_t*)> functions = {
      {"gelu", spt_gelu},           {"silu", spt_silu},         {"mish", spt_mish},
      {"hardswish", spt_hardswish}, {"softplus", spt_softplus}, {"elu", spt_elu}};
  const Handle x = tensor({-2, -0.5, 0, 0.5, 2}, {5});
  for (const expected::Activation& activation : expected::kActivations) {
    // Processors differ in the last bits of exp and erf.
    EXPECT_THAT(values(create(functions.at(activation.name), int64_t{x})),
                ::testing::Pointwise(::testing::DoubleNear(1e-6), activation.at))
        << activation.name;
  }
}

TEST_F(Tensors, SumToATensorAndToANumber) {
  const Handle a = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_THAT(values(create(spt_sum_all, int64_t{a})), ElementsAre(21));
  EXPECT_THAT(values(create(spt_sum_dim, int64_t{a}, int64_t{1}, false)), ElementsAre(6, 15));
  EXPECT_EQ(shape(create(spt_mean_dim, int64_t{a}, int64_t{-1}, true)), (std::vector<int64_t>{2, 1}));
  double value = 0;
  EXPECT_EQ(spt_var_value(a, &value), SPT_OK);
  EXPECT_DOUBLE_EQ(value, 3.5);
}

TEST_F(Tensors, ReturnMaximaWithIndices) {
  const Handle a = tensor({1, 9, 3, 7, 5, 6}, {2, 3});
  int64_t found = 0;
  int64_t places = 0;
  ASSERT_EQ(spt_max_with_indices(a, 1, false, &found, &places), SPT_OK);
  EXPECT_THAT(values(Handle(found)), ElementsAre(9, 7));
  EXPECT_THAT(values(Handle(places)), ElementsAre(1, 0));
  ASSERT_EQ(spt_topk(a, 2, -1, true, true, &found, &places), SPT_OK);
  EXPECT_THAT(values(Handle(found)), ElementsAre(9, 3, 7, 6));
  EXPECT_THAT(values(Handle(places)), ElementsAre(1, 2, 0, 2));
  EXPECT_THAT(values(create(spt_argmax, int64_t{a}, int64_t{-1}, false)), ElementsAre(1))
      << "a negative index reduces over all elements";
  EXPECT_THAT(values(create(spt_argmax_dim, int64_t{a}, int64_t{-1}, false)), ElementsAre(1, 0));
}

TEST_F(Tensors, ShareStorageWithTheirViews) {
  const Handle a = zeros({2, 3});
  const Handle turned = create(spt_transpose, int64_t{a}, int64_t{0}, int64_t{1});
  const Handle row = create(spt_select, int64_t{a}, int64_t{0}, int64_t{1});
  ASSERT_EQ(spt_fill_(row, 5), SPT_OK);
  EXPECT_THAT(values(turned), ElementsAre(0, 5, 0, 5, 0, 5));
  EXPECT_EQ(data_ptr(turned), data_ptr(a));
}

TEST_F(Tensors, AreSlicedJoinedAndIndexed) {
  const Handle a = tensor({1, 2, 3, 4, 5, 6}, {3, 2});
  EXPECT_THAT(values(create(spt_slice, int64_t{a}, int64_t{0}, int64_t{0}, int64_t{99}, int64_t{2})),
              ElementsAre(1, 2, 5, 6));
  const int64_t both[] = {a, a};
  EXPECT_EQ(shape(create(spt_cat, both, int64_t{2}, int64_t{1})), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(shape(create(spt_stack, both, int64_t{2}, int64_t{0})), (std::vector<int64_t>{2, 3, 2}));
  const Handle mask = create(spt_gt_scalar, int64_t{a}, 4.0);
  EXPECT_THAT(values(create(spt_index, int64_t{a}, int64_t{mask})), ElementsAre(5, 6));
  const Handle places = integers({2, 0}, {2});
  EXPECT_THAT(values(create(spt_index, int64_t{a}, int64_t{places})), ElementsAre(5, 6, 1, 2));
  int64_t* pieces = nullptr;
  int64_t count = 0;
  ASSERT_EQ(spt_chunk(a, 2, 0, &pieces, &count), SPT_OK);
  ASSERT_EQ(count, 2);
  EXPECT_THAT(values(Handle(pieces[0])), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values(Handle(pieces[1])), ElementsAre(5, 6));
  spt_free(pieces);
}

TEST_F(Tensors, ChangeInPlace) {
  const Handle a = integers({1, 2}, {2});
  const Handle b = integers({10, 20}, {2});
  EXPECT_EQ(spt_add_(a, b, 2.0), SPT_OK);
  EXPECT_THAT(values(a), ElementsAre(21, 42));
  EXPECT_EQ(spt_mul_scalar_(a, 2.0), SPT_OK);
  EXPECT_THAT(values(a), ElementsAre(42, 84));
  EXPECT_EQ(spt_copy_(a, b), SPT_OK);
  EXPECT_THAT(values(a), ElementsAre(10, 20));
}

TEST_F(Tensors, DrawPyTorchsNumbersForASeed) {
  ASSERT_EQ(spt_manual_seed(42), SPT_OK);
  const int64_t dims[] = {4};
  EXPECT_THAT(values(create(spt_randn, dims, int64_t{1})), ElementsAreArray(expected::kRandnOfSeed42));
  EXPECT_THAT(values(create(spt_rand, dims, int64_t{1})), ElementsAreArray(expected::kRandAfterIt));
}

TEST_F(Tensors, ReportTheirProperties) {
  const Handle a = create(spt_t, int64_t{zeros({2, 3})});
  int64_t number = 0;
  bool yes = true;
  EXPECT_EQ(spt_ndim(a, &number), SPT_OK);
  EXPECT_EQ(number, 2);
  EXPECT_EQ(spt_nbytes(a, &number), SPT_OK);
  EXPECT_EQ(number, 24);
  EXPECT_EQ(spt_shape_dim(a, 1, &number), SPT_OK);
  EXPECT_EQ(number, 2);
  EXPECT_EQ(spt_shape_dim(a, -1, &number), SPT_OK);
  EXPECT_EQ(number, -1) << "as in stock Simple";
  int64_t sizes[] = {-1, -1, -1};
  EXPECT_EQ(spt_copy_shape(a, sizes, 3, &number), SPT_OK);
  EXPECT_THAT(sizes, ElementsAre(3, 2, -1));
  EXPECT_EQ(number, 2);
  EXPECT_EQ(spt_copy_shape(a, sizes, 1, &number), SPT_OK) << "the sizes do not fit";
  EXPECT_THAT(sizes, ElementsAre(3, 2, -1));
  EXPECT_EQ(number, 2);
  EXPECT_EQ(spt_copy_shape(a, nullptr, 3, &number), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_is_contiguous(a, &yes), SPT_OK);
  EXPECT_FALSE(yes);
  int32_t device = 0;
  EXPECT_EQ(spt_device(a, &device), SPT_OK);
  EXPECT_EQ(device, -1);
}

TEST_F(Tensors, AreCopiedToWordsAndBack) {
  ASSERT_EQ(spt_op_defaults(true, true), SPT_OK);
  int64_t numbers[] = {1, 2, 2, 3, 1, 2, 3, 4, 5, 6};
  const Handle a = create(spt_from_elements, static_cast<void*>(numbers), int64_t{10});
  int64_t words[10] = {}, count = 0;
  EXPECT_EQ(spt_copy_elements(create(spt_t, int64_t{a}), words, 10, &count), SPT_OK);
  EXPECT_EQ(count, 10);
  EXPECT_THAT(words, ElementsAre(1, 2, 3, 2, 1, 4, 2, 5, 3, 6));
  EXPECT_EQ(spt_copy_elements(a, words, 9, &count), SPT_OK) << "the elements do not fit";
  EXPECT_EQ(count, 10);
  EXPECT_EQ(spt_copy_elements(a, nullptr, 10, &count), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_copy_elements(0, words, 10, &count), SPT_INVALID_HANDLE);

  for (std::vector<int64_t> kind :
       {std::vector<int64_t>{0, 0, std::bit_cast<int64_t>(0.5)}, {2, 1, 2, 1, 0}}) {
    const Handle made = create(spt_from_elements, static_cast<void*>(kind.data()), std::ssize(kind));
    EXPECT_EQ(spt_copy_elements(made, words, 10, &count), SPT_OK);
    EXPECT_THAT(std::vector<int64_t>(words, words + count), ElementsAreArray(kind));
  }
}

TEST_F(Tensors, RejectMalformedWords) {
  ASSERT_EQ(spt_op_defaults(true, true), SPT_OK);
  int64_t handle = 0;
  const auto status_of = [&](std::vector<int64_t> words) {
    return spt_from_elements(words.data(), static_cast<int64_t>(words.size()), &handle);
  };
  EXPECT_EQ(spt_from_elements(nullptr, 2, &handle), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(status_of({0}), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(status_of({3, 0, 1}), SPT_INVALID_ARGUMENT) << "an unknown kind";
  EXPECT_EQ(status_of({1, -1, 1}), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(status_of({1, 65, 1}), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(status_of({1, 1, -1}), SPT_INVALID_ARGUMENT) << "a negative size";
  EXPECT_EQ(status_of({1, 1, 2, 7}), SPT_INVALID_ARGUMENT) << "too few elements";
  EXPECT_EQ(status_of({1, 2, INT64_MAX, 3, 7}), SPT_INVALID_ARGUMENT) << "the product overflows";
  EXPECT_EQ(status_of({1, 0, 7, 8}), SPT_INVALID_ARGUMENT) << "too many elements";
  ASSERT_EQ(spt_op_defaults(false, true), SPT_OK);
  EXPECT_EQ(status_of({1, 0, 7}), SPT_OK);
  EXPECT_EQ(handle, 0) << "the defaults are not known";
}

TEST_F(Tensors, PassThroughNetworkFunctions) {
  const Handle image = tensor({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 3, 3});
  const Handle kernel = ones({1, 1, 2, 2});
  const int64_t one[] = {1, 1};
  const int64_t none[] = {0, 0};
  const int64_t two[] = {2, 2};
  EXPECT_THAT(values(create(spt_conv2d, int64_t{image}, int64_t{kernel}, int64_t{0}, one, int64_t{2}, none,
                            int64_t{2}, one, int64_t{2}, int64_t{1})),
              ElementsAre(12, 16, 24, 28));
  EXPECT_THAT(
      values(create(spt_max_pool2d, int64_t{image}, two, int64_t{2}, one, int64_t{2}, none, int64_t{2})),
      ElementsAre(5, 6, 8, 9));
  const Handle weight = tensor({1, 0, 0, 2}, {2, 2});
  const Handle bias = tensor({10, 20}, {2});
  const Handle input = tensor({3, 4}, {1, 2});
  EXPECT_THAT(values(create(spt_linear, int64_t{input}, int64_t{weight}, int64_t{bias})),
              ElementsAre(13, 28));
  EXPECT_THAT(values(create(spt_linear, int64_t{input}, int64_t{weight}, int64_t{0})), ElementsAre(3, 8));
  const Handle rows = integers({1, 1}, {2});
  EXPECT_THAT(values(create(spt_embedding, int64_t{rows}, int64_t{weight})), ElementsAre(0, 2, 0, 2));
}

TEST_F(Tensors, HaveLossesAsTensorsAndAsNumbers) {
  const Handle input = tensor({1, 2}, {2});
  const Handle target = tensor({3, 5}, {2});
  EXPECT_THAT(values(create(spt_mse_loss, int64_t{input}, int64_t{target}, int64_t{1})), ElementsAre(6.5));
  EXPECT_THAT(values(create(spt_mse_loss, int64_t{input}, int64_t{target}, int64_t{0})), ElementsAre(4, 9));
  double value = 0;
  EXPECT_EQ(spt_mse_loss_value(input, target, &value), SPT_OK);
  EXPECT_DOUBLE_EQ(value, 6.5);
  const Handle logits = zeros({1, 4});
  const Handle label = integers({2}, {1});
  const Handle loss =
      create(spt_cross_entropy, int64_t{logits}, int64_t{label}, int64_t{0}, int64_t{1}, int64_t{-100}, 0.0);
  EXPECT_THAT(values(loss), ElementsAre(DoubleNear(1.3862943611, 1e-6))) << "log 4";
}

TEST_F(Tensors, ConvertTheirDtype) {
  const Handle a = tensor({1.75, -1.75}, {2});
  EXPECT_THAT(values(create(spt_to_int, int64_t{a})), ElementsAre(1, -1));
  int64_t code = 0;
  ASSERT_EQ(spt_dtype_code("torch.bfloat16", &code), SPT_OK);
  EXPECT_EQ(dtype(create(spt_to_dtype, int64_t{a}, code)), "bfloat16");
  int64_t* items = nullptr;
  int64_t count = 0;
  EXPECT_EQ(spt_to_int_list(a, &items, &count), SPT_DTYPE_MISMATCH);
}

class Text : public CApiTest {
 protected:
  static Handle range(double end) { return create(spt_arange, 0.0, end, 1.0); }
  static Handle integer_range(int64_t start, int64_t end) {
    return create(spt_arange_int, start, end, int64_t{1});
  }
  static Handle shaped(const Handle& a, const std::vector<int64_t>& dims) {
    return create(spt_reshape, int64_t{a}, dims.data(), size(dims));
  }
  static Handle as(const Handle& a, const char* name) {
    int64_t code = 0;
    EXPECT_EQ(spt_dtype_code(name, &code), SPT_OK);
    return create(spt_to_dtype, int64_t{a}, code);
  }
  static Handle complex() {
    const Handle real = tensor({1, -2.5}, {2});
    const Handle unit = as(real, "complex64");
    const Handle imaginary = as(tensor({-1, 0.25}, {2}), "complex64");
    // i = sqrt(-1), because the typed functions have no complex numbers.
    const Handle i = create(spt_sqrt, int64_t{as(tensor({-1}, {1}), "complex64")});
    return create(spt_add, int64_t{unit}, int64_t{create(spt_mul, int64_t{imaginary}, int64_t{i})});
  }
};

TEST_F(Text, IsWhatPythonPrints) {
  const double nan = std::nan("");
  const double inf = INFINITY;
  std::map<std::string, Handle> made_here;
  made_here["whole floats"] = ones({2, 3});
  made_here["fractions"] = tensor({1.5, -2.25, 0, 100}, {2, 2});
  made_here["scientific"] = tensor({1e-5, 1, 1e5}, {3});
  made_here["wide range of whole numbers"] = tensor({1, 100000}, {2});
  made_here["not finite"] = tensor({1, nan, inf, -inf}, {4});
  made_here["only zeros"] = zeros({3});
  made_here["scalar"] = tensor({3.14159}, {});
  made_here["integer scalar"] = integers({7}, {});
  made_here["integers"] = shaped(integer_range(-2, 10), {3, 4});
  made_here["bools"] = as(tensor({1, 0}, {2}), "bool");
  const double tenth = 0.1;
  const int64_t one_dim = 1;
  made_here["float64"] = create(spt_from_data, &tenth, int64_t{1}, &one_dim, int64_t{1});
  made_here["uint8"] = as(tensor({1, 255}, {2}), "uint8");
  made_here["half"] = as(tensor({0.5, 2}, {2}), "float16");
  made_here["empty"] = zeros({0});
  made_here["empty matrix"] = as(zeros({2, 0}), "int64");
  made_here["three dimensions"] = shaped(range(8), {2, 2, 2});
  made_here["wrapped line"] = integer_range(0, 40);
  made_here["summarized"] = integer_range(0, 1001);
  made_here["summarized matrix"] = shaped(range(3000), {60, 50});
  made_here["summarized long rows"] = shaped(integer_range(0, 2002), {2, 1001});
  made_here["complex"] = complex();
  made_here["requires grad"] = parameter({1, 1}, {2});
  made_here["has a grad_fn"] = create(spt_neg, int64_t{made_here["requires grad"]});
  made_here["suffix on its own line"] = create(spt_add_scalar, int64_t{as(range(16), "float64")}, 0.5);
  for (const expected::Text& recorded : expected::kTexts) {
    ASSERT_TRUE(made_here.contains(recorded.name)) << recorded.name;
    EXPECT_EQ(text(made_here[recorded.name]), recorded.text) << recorded.name;
  }
}

class Defaults : public CApiTest {
 protected:
  static constexpr int64_t kInt64 = 4, kFloat32 = 6, kFloat64 = 7;
  ~Defaults() override { spt_set_default_dtype(kFloat32); }
};

TEST_F(Defaults, TheDefaultDtypeIsThatOfNewTensors) {
  int64_t code = kUntouched;
  ASSERT_EQ(spt_default_dtype(&code), SPT_OK);
  EXPECT_EQ(code, kFloat32);
  ASSERT_EQ(spt_set_default_dtype(kFloat64), SPT_OK);
  EXPECT_EQ(dtype(zeros({1})), "float64");
  EXPECT_EQ(spt_default_dtype(nullptr), SPT_INVALID_ARGUMENT);
}

TEST_F(Defaults, TheDefaultDtypeIsFloatingPoint) {
  EXPECT_EQ(spt_set_default_dtype(kInt64), SPT_DTYPE_MISMATCH);
  EXPECT_THAT(spt_last_error_message(),
              HasSubstr("only floating-point types are supported as the default type, got int64"));
  EXPECT_EQ(spt_set_default_dtype(999), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(dtype(zeros({1})), "float32");
}

TEST_F(Defaults, TheDevicesAreNamed) {
  char* devices = nullptr;
  ASSERT_EQ(spt_devices(&devices), SPT_OK);
  EXPECT_THAT(take_string(devices), StartsWith("cpu"));
  const Handle here = create(spt_to_device, static_cast<int64_t>(zeros({1})), "auto");
  EXPECT_EQ(shape(here), std::vector<int64_t>{1});
}

TEST_F(Tensors, ReportTheUseCountOfTheirStorage) {
  int64_t users = kUntouched;
  const Handle a = zeros({2, 2});
  ASSERT_EQ(spt_storage_users(a, &users), SPT_OK);
  EXPECT_EQ(users, 1);
  const Handle view = create(spt_t, static_cast<int64_t>(a));
  ASSERT_EQ(spt_storage_users(a, &users), SPT_OK);
  EXPECT_GT(users, 1);
  EXPECT_EQ(spt_storage_users(0, &users), SPT_INVALID_HANDLE);
}

}  // namespace
