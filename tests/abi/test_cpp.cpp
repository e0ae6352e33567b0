// The C++ header simple_torch.hpp: owned handles, exceptions, functions, operators by name, DLPack.
#include <array>
#include <complex>
#include <cstdint>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "capi_test.h"
#include "simple_torch/simple_torch.hpp"

namespace {

using simple_torch::Arguments;
using simple_torch::DlpackExport;
using simple_torch::from_data;
using simple_torch::IntList;
using simple_torch::named;
using simple_torch::op;
using simple_torch::Results;
using simple_torch::Tensor;
using simple_torch::to_list;
using simple_torch::TorchError;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// CApiTest checks that each test releases its handles.
class CppHeader : public CApiTest {
 protected:
  static Tensor matrix() { return from_data({1, 2, 3, 4}, {2, 2}); }

  /// The error that `body` throws.
  template <class Body>
  static TorchError error_of(Body&& body) {
    try {
      body();
    } catch (const TorchError& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {SPT_OK, ""};
  }
};

TEST_F(CppHeader, AHandleIsReleasedWithItsOwner) {
  {
    const Tensor a = matrix();
    EXPECT_EQ(live(), 1);
  }
  EXPECT_EQ(live(), 0);
}

TEST_F(CppHeader, ACopyIsTheSameTensor) {
  Tensor a = matrix();
  Tensor b = a;
  simple_torch::fill_(a, 7);
  EXPECT_THAT(to_list(b), ElementsAre(7, 7, 7, 7));
  a = b;
  b = Tensor();
  EXPECT_FALSE(b);
  EXPECT_EQ(simple_torch::data_ptr(a), simple_torch::data_ptr(Tensor(a)));
  EXPECT_EQ(live(), 1);
}

TEST_F(CppHeader, AMoveLeavesAnEmptyTensor) {
  Tensor a = matrix();
  const int64_t handle = a.get();
  Tensor b = std::move(a);
  EXPECT_EQ(b.get(), handle);
  EXPECT_EQ(a.get(), 0);  // NOLINT(bugprone-use-after-move)
  Tensor& same = b;
  b = std::move(same);
  EXPECT_EQ(b.get(), handle);
  static_assert(!std::is_copy_constructible_v<simple_torch::OptimizerHandle>);
}

TEST_F(CppHeader, AFailureIsAnExceptionWithTheFieldsOfTheRecord) {
  const TorchError error = error_of([] { simple_torch::matmul(matrix(), simple_torch::zeros({3, 1})); });
  EXPECT_EQ(error.kind(), SPT_SHAPE_MISMATCH);
  EXPECT_STREQ(error.what(), "mm: mat1 and mat2 shapes cannot be multiplied (2x2 and 3x1)");
  EXPECT_EQ(error.expected(), "[2, 2]");
  EXPECT_EQ(error.got(), "[3, 1]");
}

TEST_F(CppHeader, AnEmptyTensorIsAnInvalidHandle) {
  EXPECT_EQ(error_of([] { simple_torch::neg(Tensor()); }).kind(), SPT_INVALID_HANDLE);
}

TEST_F(CppHeader, AStringWithNulIsRejected) {
  const TorchError error = error_of([] { simple_torch::dtype_code(std::string("flo\0at", 6)); });
  EXPECT_EQ(error.kind(), SPT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.what(), "a string must not contain NUL, got one at byte 3");
}

TEST_F(CppHeader, ListsAreArgumentsAndResults) {
  const std::vector<int64_t> sizes = {4, 1};
  const Tensor column = simple_torch::reshape(matrix(), sizes);
  EXPECT_THAT(simple_torch::shape(column), ElementsAre(4, 1));
  EXPECT_THAT(to_list(simple_torch::cat({column, column * 10}, 1)), ElementsAre(1, 10, 2, 20, 3, 30, 4, 40));
  const std::vector<Tensor> parts = simple_torch::split(column, 3, 0);
  ASSERT_EQ(parts.size(), 2);
  EXPECT_THAT(to_list(parts[1]), ElementsAre(4));
  EXPECT_THAT(to_list(simple_torch::einsum("ij,jk->ik", {matrix(), matrix()})), ElementsAre(7, 10, 15, 22));
  EXPECT_THAT(simple_torch::shape(simple_torch::zeros({})), ElementsAre());
}

TEST_F(CppHeader, SeveralResultsAreATuple) {
  const auto [values, indices] = simple_torch::topk(from_data({3, 9, 5}, {3}), 2, 0, true, true);
  EXPECT_THAT(to_list(values), ElementsAre(9, 5));
  EXPECT_THAT(to_list(indices), ElementsAre(1, 2));
}

TEST_F(CppHeader, NumbersAndTensorsAreAddedSubtractedMultipliedAndDivided) {
  const Tensor a = matrix();
  EXPECT_THAT(to_list(a + a), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(to_list(a - 0.5), ElementsAre(0.5, 1.5, 2.5, 3.5));
  EXPECT_THAT(to_list(10 - a), ElementsAre(9, 8, 7, 6));
  EXPECT_THAT(to_list(2.0 * a / 4), ElementsAre(0.5, 1, 1.5, 2));
  EXPECT_THAT(to_list(12 / a), ElementsAre(12, 6, 4, 3));
  EXPECT_THAT(to_list(-a * a), ElementsAre(-1, -4, -9, -16));
  EXPECT_THAT(to_list(a / a + 1), ElementsAre(2, 2, 2, 2));
  const Tensor integers = simple_torch::arange_int(0, 3, 1);
  EXPECT_EQ(simple_torch::dtype_name(simple_torch::dtype(1 + integers * 2)), "int64");
  EXPECT_EQ(simple_torch::dtype_name(simple_torch::dtype(integers + 1.5)), "float32");
}

TEST_F(CppHeader, ATensorIsWrittenToAStreamAsPythonPrintsIt) {
  std::ostringstream stream;
  stream << simple_torch::arange(0, 3, 1);
  EXPECT_EQ(stream.str(), "tensor([0., 1., 2.])");
}

TEST_F(CppHeader, AnOperatorIsCalledByNameWithKeywordArguments) {
  const Results found = op("topk", from_data({3, 9, 5}, {3}), 1, named("largest", false));
  EXPECT_EQ(found.size(), 2);
  EXPECT_EQ(found.names(), "values,indices");
  EXPECT_THAT(to_list(found.tensor(0)), ElementsAre(3));
  EXPECT_THAT(to_list(found.tensor(1)), ElementsAre(0));
}

TEST_F(CppHeader, AnOperatorAcceptsAndReturnsEveryKindOfValue) {
  const Tensor a = matrix();
  EXPECT_THAT(to_list(op("cat", std::vector<Tensor>{a, a}, 1).tensor()), ElementsAre(1, 2, 1, 2, 3, 4, 3, 4));
  EXPECT_EQ(op("split", a, 1).tensors().size(), 2);
  EXPECT_TRUE(op("allclose", a, a + 1e-12).to_bool());
  EXPECT_EQ(op("aten::size", a, 1).to_int(), 2);
  EXPECT_EQ(op("item", op("sum", a).tensor()).to_double(), 10);
  EXPECT_THAT(to_list(op("clamp", a, nullptr, 3).tensor()), ElementsAre(1, 2, 3, 3));
  EXPECT_THAT(to_list(op("sum", a, IntList{0}, named("keepdim", true)).tensor()), ElementsAre(4, 6));
  EXPECT_EQ(simple_torch::dtype_name(
                simple_torch::dtype(op("zeros", IntList{2}, named("dtype", "int16")).tensor())),
            "int16");
  const Tensor imaginary = op("full", IntList{1}, std::complex<double>(1, -2)).tensor();
  EXPECT_EQ(op("item", imaginary).to_complex(), std::complex<double>(1, -2));
  const simple_torch::GeneratorHandle generator = simple_torch::generator_new("cpu");
  simple_torch::generator_manual_seed(generator, 5);
  const Tensor first = op("randn", IntList{3}, named("generator", generator)).tensor();
  simple_torch::generator_manual_seed(generator, 5);
  EXPECT_TRUE(simple_torch::equal(first, op("randn", IntList{3}, named("generator", generator)).tensor()));
}

/// What spt_op returns for one plain result.
simple_torch::Array results_with(const std::vector<SplValue>& items) {
  const auto value = [](int32_t tag) {
    SplValue made{};
    made.tag = tag;
    return made;
  };
  SplArray* array = spl_array_new();
  for (const char* text : {"v", ""}) {
    SplValue string = value(SPL_STRING);
    string.as_string = spl_str_new(text);
    spl_array_push(array, string);
  }
  SplValue list = value(SPL_ARRAY);
  list.as_array = spl_array_new();
  for (const SplValue& item : items) {
    spl_array_push(list.as_array, item);
  }
  spl_array_push(array, list);
  return simple_torch::Array(array);
}

TEST_F(CppHeader, AListAsResultHasItemsOfOneType) {
  SplValue integer{};
  integer.tag = SPL_INT;
  integer.as_int = 3;
  SplValue number{};
  number.tag = SPL_FLOAT;
  number.as_float = 0.5;
  EXPECT_THAT(Results(results_with({integer, integer})).ints(), ElementsAre(3, 3));
  EXPECT_THAT(Results(results_with({number})).doubles(), ElementsAre(0.5));
  EXPECT_STREQ(error_of([&] { Results(results_with({number})).ints(); }).what(),
               "result 0 is not a list of integers");
  EXPECT_EQ(error_of([&] { Results(results_with({number, integer})); }).kind(), SPT_NOT_IMPLEMENTED);
  const Results empty(results_with({}));  // of any type
  EXPECT_THAT(empty.ints(), ElementsAre());
  EXPECT_TRUE(empty.tensors().empty());
}

TEST_F(CppHeader, MisuseOfAnOperatorIsAnError) {
  const Tensor a = matrix();
  const TorchError unknown = error_of([&] { op("softmaxx", a, 1); });
  EXPECT_EQ(unknown.kind(), SPT_NOT_IMPLEMENTED);
  EXPECT_THAT(unknown.what(), HasSubstr("softmaxx"));
  EXPECT_EQ(error_of([&] { op("softmax", a, "one"); }).kind(), SPT_INVALID_ARGUMENT);
  EXPECT_STREQ(error_of([&] { op("sum", named("dim", 0), a); }).what(),
               "a positional argument follows keyword argument dim");
  EXPECT_STREQ(error_of([&] { op("full", IntList{1}, UINT64_MAX); }).what(),
               "an integer must fit in 64 bits with sign, got 18446744073709551615");
  const Results sum = op("sum", a);
  EXPECT_STREQ(error_of([&] { sum.to_double(); }).what(), "result 0 is not a float");
  EXPECT_STREQ(error_of([&] { sum.tensor(1); }).what(), "the operator has 1 results, got index 1");
}

TEST_F(CppHeader, GradientsAreComputedAndNotRecordedUnderTheGuard) {
  Tensor w = from_data({3}, {1});
  simple_torch::set_requires_grad(w, true);
  simple_torch::backward(simple_torch::sum_all(w * w));
  EXPECT_THAT(to_list(simple_torch::grad(w)), ElementsAre(6));
  {
    const simple_torch::NoGradGuard guard;
    EXPECT_FALSE(simple_torch::requires_grad(w * w));
  }
  EXPECT_TRUE(simple_torch::requires_grad(w * w));
  EXPECT_FALSE(simple_torch::grad(from_data({1}, {1})));
}

TEST_F(CppHeader, AnExportSharesItsMemoryWithItsImport) {
  const Tensor a = matrix();
  const Tensor b = simple_torch::from_dlpack(simple_torch::to_dlpack(a));
  EXPECT_EQ(simple_torch::data_ptr(a), simple_torch::data_ptr(b));
  EXPECT_NE(simple_torch::data_ptr(a),
            simple_torch::data_ptr(simple_torch::from_dlpack(simple_torch::to_dlpack(a, true))));
}

TEST_F(CppHeader, AnExportWithoutAConsumerIsReleased) {
  const Tensor a = matrix();
  const int64_t users = simple_torch::storage_users(a);
  {
    DlpackExport unused = simple_torch::to_dlpack(a);
    EXPECT_NE(unused.get(), nullptr);
    EXPECT_GT(simple_torch::storage_users(a), users);
    unused = simple_torch::to_dlpack(a);
  }
  EXPECT_EQ(simple_torch::storage_users(a), users);
}

TEST_F(CppHeader, AMovedTensorIsConsumed) {
  Tensor a = matrix();
  const void* address = simple_torch::data_ptr(a);
  DlpackExport moved = simple_torch::into_dlpack(std::move(a));
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(live(), 0);
  EXPECT_EQ(simple_torch::data_ptr(simple_torch::from_dlpack(std::move(moved))), address);
  Tensor kept = matrix();
  simple_torch::set_requires_grad(kept, true);
  EXPECT_EQ(error_of([&] { simple_torch::into_dlpack(std::move(kept)); }).kind(), SPT_INVALID_ARGUMENT);
  EXPECT_TRUE(kept);  // NOLINT(bugprone-use-after-move)
}

TEST_F(CppHeader, AnImportOfNothingIsAnError) {
  EXPECT_EQ(error_of([] { simple_torch::from_dlpack(nullptr); }).kind(), SPT_INVALID_ARGUMENT);
}

TEST_F(CppHeader, FunctionsWithArgumentsOfAnyKindRejectKeywordArguments) {
  const Tensor a = matrix();
  EXPECT_THAT(to_list(simple_torch::get_item(a, Arguments(-1))), ElementsAre(3, 4));
  EXPECT_STREQ(error_of([&] { simple_torch::get_item(a, Arguments(named("index", 0))); }).what(),
               "no keyword argument is accepted, got index");
}

TEST_F(CppHeader, PythonIsCalled) {
  const simple_torch::Object math = simple_torch::py_import("math");
  EXPECT_EQ(simple_torch::py_to_float(simple_torch::py_call_method(math, "hypot", Arguments(3, 4))), 5);
  const simple_torch::Object built =
      simple_torch::py_eval("dict(a=x, b=y)", Arguments(named("x", 1), named("y", "z")));
  EXPECT_EQ(simple_torch::py_str(built), "{'a': 1, 'b': 'z'}");
  const TorchError error = error_of([&] { simple_torch::py_getattr(math, "nothing"); });
  EXPECT_EQ(error.kind(), SPT_PYTHON);
  EXPECT_EQ(error.type(), "builtins.AttributeError");
}

}  // namespace
