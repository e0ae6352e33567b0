// The contract of operators by name and of generators. Expected values are arithmetic; random values are
// PyTorch's.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "capi_test.h"

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

SplValue integer(int64_t number) {
  SplValue value{};
  value.tag = SPL_INT;
  value.as_int = number;
  return value;
}
SplValue tensor_value(int64_t handle) {
  SplValue value = integer(handle);
  value.tag = SPT_TENSOR;
  return value;
}
SplValue real(double number) {
  SplValue value{};
  value.tag = SPL_FLOAT;
  value.as_float = number;
  return value;
}
SplValue truth(bool yes) {
  SplValue value{};
  value.tag = SPL_BOOL;
  value.as_bool = yes;
  return value;
}
SplValue words(const char* text) {
  SplValue value{};
  value.tag = SPL_STRING;
  value.as_string = spl_str_new(text);
  return value;
}

/// An array that owns its values.
class Values {
 public:
  Values(std::initializer_list<SplValue> items) {
    for (const SplValue& item : items) {
      spl_array_push(array_, item);
    }
  }
  ~Values() { spl_array_free(array_); }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  const SplArray* get() const { return array_; }
  /// Transfers ownership, as an item of another array.
  SplValue release() {
    SplValue value{};
    value.tag = SPL_ARRAY;
    value.as_array = array_;
    array_ = nullptr;
    return value;
  }

 private:
  SplArray* array_ = spl_array_new();
};

class Operators : public CApiTest {
 protected:
  /// A result of spt_op; its handles are released.
  class Given {
   public:
    explicit Given(SplArray* array) : array_(array) {}
    ~Given() {
      const std::string kinds = letters();
      for (size_t i = 0; i < kinds.size(); ++i) {
        if (kinds[i] == 't') {
          spt_release(item(i).as_int);
        }
        for (int64_t j = 0; kinds[i] == 'l' && j < item(i).as_array->len; ++j) {
          spt_release(item(i).as_array->items[j].as_int);
        }
      }
      spl_array_free(array_);
    }
    Given(const Given&) = delete;
    Given& operator=(const Given&) = delete;
    std::string letters() const { return array_->items[0].as_string; }
    std::string names() const { return array_->items[1].as_string; }
    const SplValue& item(size_t i) const { return array_->items[i + 2]; }
    int64_t handle(size_t i = 0) const { return item(i).as_int; }

   private:
    SplArray* array_;
  };

  static std::unique_ptr<Given> op(const char* name, const char* kinds, const Values& values,
                                   const std::vector<const char*>& names = {}) {
    SplArray* out = nullptr;
    EXPECT_EQ(spt_op(name, kinds, values.get(), names.data(), size(names), &out), SPT_OK)
        << spt_last_error_message();
    return std::make_unique<Given>(out);
  }

  static int32_t status_of(const char* name, const char* kinds, const Values& values,
                           const std::vector<const char*>& names = {}) {
    SplArray* out = nullptr;
    const int32_t status = spt_op(name, kinds, values.get(), names.data(), size(names), &out);
    EXPECT_EQ(out, nullptr);
    return status;
  }

  static int64_t found(const char* name, const char* overload) {
    int64_t number = 0;
    EXPECT_EQ(spt_op_find(name, overload, &number), SPT_OK) << spt_last_error_message();
    return number;
  }

  static Handle generator() { return create(spt_generator_new, "cpu"); }
};

TEST_F(Operators, ChoosesTheOverloadByTheArguments) {
  const Handle a = tensor({1, 2, 3, 4}, {2, 2});
  EXPECT_THAT(values(op("add", "tt", {integer(a), integer(a)})->handle()), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(values(op("add", "tv", {integer(a), integer(1)})->handle()), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(values(op("sum", "t", {integer(a)})->handle()), ElementsAre(10));
  EXPECT_THAT(values(op("sum", "tv", {integer(a), integer(0)})->handle()), ElementsAre(4, 6));
  EXPECT_THAT(values(op("aten::pow", "vt", {integer(2), integer(a)})->handle()), ElementsAre(2, 4, 8, 16));
}

TEST_F(Operators, AcceptsKeywordsAndDefaults) {
  const Handle a = tensor({1, 2, 3, 4}, {2, 2});
  EXPECT_THAT(values(op("add", "ttv", {integer(a), integer(a), integer(10)}, {"alpha"})->handle()),
              ElementsAre(11, 22, 33, 44));
  const auto sum = op("sum", "tvv", {integer(a), integer(1), truth(true)}, {"dim", "keepdim"});
  EXPECT_THAT(shape(sum->handle()), ElementsAre(2, 1));
  EXPECT_THAT(values(op("neg", "t", {integer(a)}, {"input"})->handle()), ElementsAre(-1, -2, -3, -4));
}

TEST_F(Operators, NamesSeveralResultsAsTheirSchemaDoes) {
  const Handle a = tensor({3, 1, 2}, {3});
  const auto sorted = op("sort", "t", {integer(a)});
  EXPECT_EQ(sorted->letters(), "tt");
  EXPECT_EQ(sorted->names(), "values,indices");
  EXPECT_THAT(values(sorted->handle(0)), ElementsAre(1, 2, 3));
  EXPECT_THAT(values(sorted->handle(1)), ElementsAre(1, 2, 0));
}

TEST_F(Operators, AcceptsAndReturnsListsOfTensors) {
  const Handle a = tensor({1, 2}, {2}), b = tensor({3}, {1});
  const auto joined = op("cat", "l", {Values({integer(a), integer(b)}).release()});
  EXPECT_THAT(values(joined->handle()), ElementsAre(1, 2, 3));
  const auto parts = op("unbind", "t", {integer(a)});
  EXPECT_EQ(parts->letters(), "l");
  ASSERT_EQ(parts->item(0).as_array->len, 2);
  EXPECT_THAT(values(parts->item(0).as_array->items[1].as_int), ElementsAre(2));
}

TEST_F(Operators, ListsMayContainNone) {
  const Handle a = tensor({1, 2, 3, 4}, {2, 2}), rows = integers({1}, {1});
  const auto picked = op("index", "tl", {integer(a), Values({integer(0), integer(rows)}).release()});
  EXPECT_THAT(values(picked->handle()), ElementsAre(2, 4));
}

TEST_F(Operators, SizesAreOneListOrSingleArguments) {
  EXPECT_THAT(shape(op("zeros", "vv", {integer(2), integer(3)})->handle()), ElementsAre(2, 3));
  EXPECT_THAT(shape(op("zeros", "v", {Values({integer(2), integer(3)}).release()})->handle()),
              ElementsAre(2, 3));
  const Handle a = zeros({2, 3});
  EXPECT_THAT(shape(op("view", "tvv", {integer(a), integer(3), integer(-1)})->handle()), ElementsAre(3, 2));
  EXPECT_THAT(shape(op("view", "tv", {integer(a), integer(6)})->handle()), ElementsAre(6));
}

TEST_F(Operators, DtypesLayoutsAndMemoryFormatsAreStrings) {
  const auto made_one =
      op("full", "vvv", {Values({integer(2)}).release(), integer(3), words("float64")}, {"dtype"});
  EXPECT_EQ(dtype(made_one->handle()), "float64");
  const Handle image = zeros({1, 2, 3, 4});
  const auto last = op("contiguous", "tv", {integer(image), words("channels_last")}, {"memory_format"});
  int64_t* strides = nullptr;
  int64_t count = 0;
  ASSERT_EQ(spt_strides(last->handle(), &strides, &count), SPT_OK);
  EXPECT_EQ(std::vector<int64_t>(strides, strides + count), (std::vector<int64_t>{24, 1, 8, 2}));
  spt_free(strides);
}

TEST_F(Operators, WritesToOut) {
  const Handle a = tensor({1, 2}, {2}), out = zeros({2});
  const auto result = op("add", "ttt", {integer(a), integer(a), integer(out)}, {"out"});
  EXPECT_THAT(values(out), ElementsAre(2, 4));
  EXPECT_EQ(data_ptr(result->handle()), data_ptr(out));
}

TEST_F(Operators, SeveralOutTensorsAreOneList) {
  const Handle a = tensor({3, 1}, {2}), sorted = zeros({2}), where = integers({0, 0}, {2});
  const auto result =
      op("sort", "tl", {integer(a), Values({integer(sorted), integer(where)}).release()}, {"out"});
  EXPECT_THAT(values(sorted), ElementsAre(1, 3));
  EXPECT_THAT(values(where), ElementsAre(1, 0));
}

TEST_F(Operators, ChangesInPlace) {
  const Handle a = tensor({1, 2}, {2});
  const auto same = op("mul_", "tv", {integer(a), integer(3)});
  EXPECT_THAT(values(a), ElementsAre(3, 6));
  EXPECT_EQ(data_ptr(same->handle()), data_ptr(a));
}

TEST_F(Operators, ComplexNumbersRoundTrip) {
  const Handle a = ones({1});
  const auto turned = op("mul", "tc", {integer(a), Values({real(0), real(2)}).release()});
  const auto item = op("item", "t", {integer(turned->handle())});
  ASSERT_EQ(item->letters(), "c");
  EXPECT_EQ(item->item(0).as_array->items[0].as_float, 0);
  EXPECT_EQ(item->item(0).as_array->items[1].as_float, 2);
}

TEST_F(Operators, RecordsForAutograd) {
  const Handle a = parameter({1, 2, 3}, {3});
  const auto squared = op("square", "t", {integer(a)});
  const auto sum = op("sum", "t", {integer(squared->handle())});
  ASSERT_EQ(spt_backward(sum->handle()), SPT_OK) << spt_last_error_message();
  int64_t gradient = 0;
  ASSERT_EQ(spt_grad(a, &gradient), SPT_OK);
  EXPECT_THAT(values(Handle(gradient)), ElementsAre(2, 4, 6));
}

TEST_F(Operators, FactoryFunctionsAcceptRequiresGrad) {
  const auto made_one = op("ones", "vv", {integer(2), truth(true)}, {"requires_grad"});
  bool requires_grad = false;
  ASSERT_EQ(spt_requires_grad(made_one->handle(), &requires_grad), SPT_OK);
  EXPECT_TRUE(requires_grad);
}

TEST_F(Operators, AZeroDimensionalTensorIsAcceptedAsANumber) {
  const Handle a = tensor({1, 5}, {2}), most = tensor({3}, {});
  EXPECT_THAT(values(op("clamp", "tvt", {integer(a), integer(2), integer(most)})->handle()),
              ElementsAre(2, 3));
}

TEST_F(Operators, RejectAnUnknownName) {
  EXPECT_EQ(status_of("no_such_op", "", {}), SPT_NOT_IMPLEMENTED);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("no operator named 'no_such_op'"));
}

TEST_F(Operators, SuggestTheClosestNameForAnUnknownOne) {
  const std::pair<const char*, const char*> suggestions[] = {
      {"relou", "relu"},
      {"softmx", "softmax"},
      {"linalg_svdd", "linalg_svd"},
      {"relou_", "relu_"},
      {"flaot", "float"},
      {"to_float", "float"},
      {"to_sparse_csrr", "to_sparse_csr"},
      {"aten::relou", "aten::relu"},
      {"_cast_Flaot", "_cast_Float"},
  };
  for (const auto& [misspelled, meant] : suggestions) {
    EXPECT_EQ(status_of(misspelled, "", {}), SPT_NOT_IMPLEMENTED);
    EXPECT_EQ(spt_last_error_message(),
              "no operator named '" + std::string(misspelled) + "' (did you mean '" + meant + "'?)");
  }
}

TEST_F(Operators, SuggestNothingWithoutACloseName) {
  for (const char* name : {"no_such_operator", "to_nowhere", "xy", ""}) {
    EXPECT_EQ(status_of(name, "", {}), SPT_NOT_IMPLEMENTED);
    EXPECT_EQ(spt_last_error_message(), "no operator named '" + std::string(name) + "'");
  }
}

TEST_F(Operators, ReportWhyNoOverloadMatches) {
  const Handle a = zeros({2});
  EXPECT_EQ(status_of("softmax", "tv", {integer(a), integer(0)}, {"dimm"}), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(),
              HasSubstr("softmax() received an invalid combination of arguments - got (Tensor, dimm: int)"));
  EXPECT_THAT(spt_last_error_message(), HasSubstr("aten::softmax.int(Tensor self, int dim"));
  EXPECT_THAT(spt_last_error_message(), HasSubstr("missing required argument 'dim'"));
  EXPECT_EQ(field("op"), "softmax");
  EXPECT_EQ(status_of("relu", "tt", {integer(a), integer(a)}), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("takes 1 positional arguments but 2 were given"));
  EXPECT_EQ(status_of("zeros", "vv", {integer(2), words("flot32")}, {"dtype"}), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("argument 'dtype' must be ScalarType?, not 'flot32'"));
}

TEST_F(Operators, ReportTheOperatorsError) {
  const Handle a = zeros({2, 3}), b = zeros({2, 3});
  EXPECT_EQ(status_of("mm", "tt", {integer(a), integer(b)}), SPT_SHAPE_MISMATCH);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"));
  EXPECT_EQ(status_of("softmax", "tv", {integer(a), integer(5)}), SPT_INDEX_OUT_OF_RANGE);
}

TEST_F(Operators, RejectCallsThatWouldCrash) {
  const Handle nan = tensor({std::numeric_limits<double>::quiet_NaN(), 0, 0, 1}, {2, 2});
  EXPECT_EQ(status_of("linalg_eigvals", "t", {integer(nan)}), SPT_TORCH);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("input tensor should not contain infs or NaNs"));
  int64_t out = kUntouched;
  EXPECT_EQ(spt_eig_real(nan, &out), SPT_TORCH);
  EXPECT_EQ(status_of("arange", "vvv", {integer(0), integer(INT64_MIN), integer(-1)}), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("end - start overflows int64"));
  EXPECT_EQ(spt_arange_int(1, INT64_MIN, -1, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
}

TEST_F(Operators, RejectAMissingDevice) {
  EXPECT_EQ(status_of("zeros", "vv", {integer(2), words("cuda:99")}, {"device"}), SPT_UNAVAILABLE);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("no device cuda:99; available devices: cpu"));
}

TEST_F(Operators, RejectInvalidValues) {
  const Handle a = zeros({2});
  EXPECT_EQ(status_of("relu", "tt", {integer(a)}), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(status_of("relu", "x", {integer(a)}), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(status_of("relu", "t", {real(1)}), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(status_of("relu", "t", {integer(12345)}), SPT_INVALID_HANDLE);
  EXPECT_EQ(status_of("relu", "t", {integer(a)}, {"self", "other"}), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(status_of(nullptr, "", {}), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_op("relu", "", nullptr, nullptr, 0, nullptr), SPT_INVALID_ARGUMENT);
}

TEST_F(Operators, AnOverloadIsCalledByItsId) {
  const int64_t add = found("add", "Tensor");
  EXPECT_EQ(found("aten::add", "Tensor"), found("aten::add", "Tensor"));
  const Handle a = tensor({1, 2}, {2});
  const std::array args{tensor_value(a), tensor_value(a)};
  std::array<SplValue, 1> results{};
  int64_t count = 0;
  ASSERT_EQ(spt_op_call(add, args.data(), size(args), results.data(), size(results), &count), SPT_OK)
      << spt_last_error_message();
  ASSERT_EQ(count, 1);
  ASSERT_EQ(results[0].tag, SPT_TENSOR);
  EXPECT_THAT(values(Handle(results[0].as_int)), ElementsAre(2, 4));
}

TEST_F(Operators, ACallByIdRejectsInvalidArguments) {
  const int64_t add = found("add", "Tensor");
  const Handle a = ones({2});
  const std::array one{tensor_value(a)};
  const std::array wrong{tensor_value(a), words("a")};
  const std::array many{tensor_value(a), tensor_value(a), integer(1), integer(1)};
  std::array<SplValue, 1> results{};
  int64_t count = kUntouched;
  EXPECT_EQ(spt_op_call(add, one.data(), 1, results.data(), 1, &count), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("missing required argument 'other'"));
  EXPECT_EQ(spt_op_call(add, wrong.data(), 2, results.data(), 1, &count), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("argument 'other' must be Tensor, not str"));
  EXPECT_EQ(spt_op_call(add, many.data(), 4, results.data(), 1, &count), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_op_call(add, many.data(), 2, results.data(), 0, &count), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("got 0"));
  EXPECT_EQ(spt_op_call(add, many.data(), 2, results.data(), 1, nullptr), SPT_INVALID_ARGUMENT);
  for (const int64_t number : {int64_t{0}, int64_t{-1}, int64_t{1} << 40}) {
    EXPECT_EQ(spt_op_call(number, one.data(), 1, results.data(), 1, &count), SPT_INVALID_ARGUMENT);
  }
  EXPECT_EQ(count, kUntouched);
  std::free(wrong[1].as_string);
}

TEST_F(Operators, FindRejectsAnUnknownOverload) {
  int64_t number = kUntouched;
  EXPECT_EQ(spt_op_find("add", "NoSuch", &number), SPT_NOT_IMPLEMENTED);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("aten::add.Tensor"));
  EXPECT_EQ(spt_op_find("no_such_op", "", &number), SPT_NOT_IMPLEMENTED);
  EXPECT_EQ(spt_op_find(nullptr, "", &number), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_op_find("add", nullptr, &number), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_op_find("add", "Tensor", nullptr), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(number, kUntouched);
}

TEST_F(Operators, ReportTheirSchemas) {
  char* out = nullptr;
  ASSERT_EQ(spt_op_schemas("relu", &out), SPT_OK);
  EXPECT_THAT(take_string(out), HasSubstr("aten::relu(Tensor self) -> Tensor\n"));
  ASSERT_EQ(spt_op_schemas("no_such_op", &out), SPT_OK);
  EXPECT_EQ(take_string(out), "");
  ASSERT_EQ(spt_op_names(&out), SPT_OK);
  EXPECT_THAT(take_string(out), HasSubstr("\naten::softmax\n"));
}

TEST_F(Operators, ThreadsFindTheSameOverloads) {
  std::array<int64_t, 8> numbers{};
  std::vector<std::thread> threads;
  threads.reserve(numbers.size());
  for (int64_t& number : numbers) {
    threads.emplace_back([&number] { number = found("hypot", ""); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(
      std::all_of(numbers.begin(), numbers.end(), [&](int64_t n) { return n == numbers[0] && n > 0; }));
}

TEST_F(Operators, AGeneratorReturnsPyTorchsNumbers) {
  const Handle random = generator();
  ASSERT_EQ(spt_generator_manual_seed(random, 0), SPT_OK);
  const auto drawn =
      op("randint", "vvvg", {integer(0), integer(10), Values({integer(3)}).release(), integer(random)},
         {"generator"});
  EXPECT_THAT(values(drawn->handle()),
              ElementsAre(4, 9, 3));  // torch.randint(0, 10, (3,), generator=…manual_seed(0))
  int64_t seed = kUntouched;
  ASSERT_EQ(spt_generator_initial_seed(random, &seed), SPT_OK);
  EXPECT_EQ(seed, 0);
}

TEST_F(Operators, AGeneratorsStateIsRestored) {
  const Handle random = generator();
  const Handle state = create(spt_generator_state, static_cast<int64_t>(random));
  const auto draw = [&] {
    return values(op("rand", "vg", {integer(2), integer(random)}, {"generator"})->handle());
  };
  const std::vector<double> first = draw();
  EXPECT_NE(draw(), first);
  ASSERT_EQ(spt_generator_set_state(random, state), SPT_OK);
  EXPECT_EQ(draw(), first);
}

TEST_F(Operators, GeneratorsRejectInvalidStates) {
  int64_t out = kUntouched;
  EXPECT_EQ(spt_generator_new("tpu", &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_generator_new("cuda:99", &out), SPT_UNAVAILABLE);
  EXPECT_EQ(spt_generator_new(nullptr, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_generator_new("cpu", nullptr), SPT_INVALID_ARGUMENT);
  const Handle a = zeros({2});
  EXPECT_EQ(spt_generator_manual_seed(a, 1), SPT_INVALID_HANDLE);
  EXPECT_EQ(spt_generator_initial_seed(a, &out), SPT_INVALID_HANDLE);
  EXPECT_EQ(spt_generator_state(a, &out), SPT_INVALID_HANDLE);
  const Handle random = generator();
  EXPECT_EQ(spt_generator_set_state(random, a), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("RNG state must be a torch.ByteTensor"));
  EXPECT_EQ(out, kUntouched);
}

/// The defaults allow direct calls during a test.
class DirectOperators : public Operators {
 protected:
  void SetUp() override {
    Operators::SetUp();
    ASSERT_EQ(spt_op_defaults(true, true), SPT_OK);
  }
  void TearDown() override {
    EXPECT_EQ(spt_op_defaults(false, false), SPT_OK);
    Operators::TearDown();
  }

  static int64_t direct(const char* name, const char* kinds, const Values& values, const Values& names = {}) {
    int64_t out = kUntouched;
    EXPECT_EQ(spt_op_direct(name, kinds, values.get(), names.get(), &out), SPT_OK)
        << spt_last_error_message();
    return out;
  }
  static int64_t number() {
    int64_t out = kUntouched;
    EXPECT_EQ(spt_op_direct_number(&out), SPT_OK);
    return out;
  }
  static int64_t next_tensor() {
    int64_t out = kUntouched;
    EXPECT_EQ(spt_op_direct_tensor(&out), SPT_OK);
    return out;
  }
};

TEST_F(DirectOperators, ReturnOneTensor) {
  const Handle a = tensor({1, 2, 3, 4}, {2, 2});
  for (int i = 0; i < 2; ++i) {  // the second call uses the plan of the first
    const Handle sum(direct("add", "tt", {integer(a), integer(a)}));
    EXPECT_THAT(values(sum), ElementsAre(2, 4, 6, 8));
    const Handle clamped(direct("clamp", "tv", {integer(a), real(2.5)}, {words("min")}));
    EXPECT_THAT(values(clamped), ElementsAre(2.5, 2.5, 3, 4));
    const Handle ones(direct("ones", "vv", {integer(2), integer(1)}));
    EXPECT_THAT(values(ones), ElementsAre(1, 1));
  }
}

TEST_F(DirectOperators, InPlaceReturnTheHandleOfTheTensor) {
  const Handle a = tensor({1, 2}, {2});
  EXPECT_EQ(direct("mul_", "tv", {integer(a), integer(3)}), static_cast<int64_t>(a));
  EXPECT_THAT(values(a), ElementsAre(3, 6));
}

TEST_F(DirectOperators, KeepTensorsForTheThread) {
  const Handle a = tensor({1, 5, 3, 4}, {2, 2});
  EXPECT_EQ(direct("max", "tv", {integer(a), integer(1)}), -4);
  const Handle maxima(next_tensor()), indices(next_tensor());
  EXPECT_THAT(values(maxima), ElementsAre(5, 4));
  EXPECT_THAT(values(indices), ElementsAre(1, 1));
  EXPECT_EQ(next_tensor(), 0);
  EXPECT_EQ(direct("chunk", "tvv", {integer(a), integer(2), integer(1)}), -3);
  const Handle first(next_tensor()), second(next_tensor());
  EXPECT_THAT(values(first), ElementsAre(1, 3));
  EXPECT_THAT(values(second), ElementsAre(5, 4));
  EXPECT_EQ(next_tensor(), 0);
}

TEST_F(DirectOperators, KeepANumberForTheThread) {
  const Handle half = tensor({0.5}, {1});
  EXPECT_EQ(direct("item", "t", {integer(half)}), -5);
  EXPECT_EQ(std::bit_cast<double>(number()), 0.5);
  EXPECT_EQ(direct("size", "tv", {integer(half), integer(0)}), -6);
  EXPECT_EQ(number(), 1);
  EXPECT_EQ(direct("equal", "tt", {integer(half), integer(half)}), -7);
  EXPECT_EQ(number(), 1);
}

TEST_F(DirectOperators, KeepOtherResultsForTheThread) {
  const Handle a = tensor({1, 5, 3, 4}, {2, 2});
  EXPECT_EQ(direct("aminmax", "t", {integer(a)}), -2);
  SplArray* out = nullptr;
  ASSERT_EQ(spt_op_direct_results(&out), SPT_OK);
  const Given results(out);
  EXPECT_EQ(results.letters(), "tt");
  EXPECT_EQ(results.names(), "min,max");
  EXPECT_THAT(values(results.handle(1)), ElementsAre(5));
  EXPECT_EQ(spt_op_direct_results(&out), SPT_INVALID_ARGUMENT);
}

TEST_F(DirectOperators, LeaveOtherCallsToOp) {
  const Handle a = tensor({1, 2}, {2});
  EXPECT_EQ(direct("no_such_operator", "t", {integer(a)}), -1);
  EXPECT_EQ(direct("relu", "tv", {integer(a), integer(1)}), -1);
  EXPECT_EQ(direct("norm", "tv", {integer(a), words("nuc")}), -1);  // Python's function has another signature
  ASSERT_EQ(spt_op_defaults(true, false), SPT_OK);
  EXPECT_EQ(direct("ones", "v", {integer(2)}), -1);
  ASSERT_EQ(spt_op_defaults(false, false), SPT_OK);
  EXPECT_EQ(direct("relu", "t", {integer(a)}), -1);
}

TEST_F(DirectOperators, CallTheOperatorsOfPythonsFunctions) {
  const Handle a = tensor({3, 4}, {2});
  EXPECT_THAT(values(Handle(direct("norm", "t", {integer(a)}))), ElementsAre(5));
  EXPECT_THAT(values(Handle(direct("norm", "tv", {integer(a), integer(1)}))), ElementsAre(7));
  EXPECT_EQ(dtype(Handle(direct("double", "t", {integer(a)}))), "float64");
  EXPECT_THAT(values(Handle(direct("to", "tv", {integer(a), words("cpu")}))), ElementsAre(3, 4));
}

TEST_F(DirectOperators, TakeGenerators) {
  const Handle random = generator();
  const auto draw = [&] {
    EXPECT_EQ(spt_generator_manual_seed(random, 3), SPT_OK);
    return values(Handle(direct("rand", "vg", {integer(2), integer(random)}, {words("generator")})));
  };
  EXPECT_EQ(draw(), draw());
}

TEST_F(DirectOperators, MayHaveNoResult) {
  const Handle a = tensor({1, 2}, {2});
  ASSERT_EQ(spt_set_requires_grad(a, true), SPT_OK);
  const Handle twice = create(spt_mul_scalar, int64_t{a}, 2.0);
  EXPECT_EQ(direct("retain_grad", "t", {integer(twice)}), -9);
  ASSERT_EQ(spt_backward(create(spt_sum_all, int64_t{twice})), SPT_OK);
  EXPECT_THAT(values(create(spt_grad, int64_t{twice})), ElementsAre(1, 1));
}

TEST_F(DirectOperators, ReportTheErrorsOfTheOperator) {
  const Handle a = tensor({1, 2}, {2});
  const Handle b = tensor({1, 2, 3}, {3});
  int64_t out = kUntouched;
  const Values both{integer(a), integer(b)};
  EXPECT_EQ(spt_op_direct("add", "tt", both.get(), nullptr, &out), SPT_SHAPE_MISMATCH);
  EXPECT_EQ(spt_op_direct("add", "t", both.get(), nullptr, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_op_direct(nullptr, "tt", both.get(), nullptr, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_op_direct("add", "tt", both.get(), both.get(), &out), SPT_INVALID_ARGUMENT);
  const Values three{words("x"), words("y"), words("z")};
  EXPECT_EQ(spt_op_direct("add", "tt", both.get(), three.get(), &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
}

}  // namespace
