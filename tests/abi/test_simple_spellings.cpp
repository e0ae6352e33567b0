// Simple's spellings, called as a Simple runtime calls them: with arrays of tagged values, and in flat form.
#include <array>
#include <bit>
#include <cstdlib>

#include "simple_torch/simple_api.h"
#include "tests/abi/capi_test.h"

namespace {

using ::testing::ElementsAre;

/// An owned Simple array.
class Array {
 public:
  explicit Array(SplArray* array) : array_(array) {}
  Array(std::initializer_list<int64_t> items) : array_(spl_array_new_i64()) {
    for (const int64_t item : items) {
      spl_array_push_i64(array_, item);
    }
  }
  static Array of_floats(std::initializer_list<double> items) {
    Array array(spl_array_new());
    for (const double item : items) {
      SplValue value{};
      value.tag = SPL_FLOAT;
      value.as_float = item;
      spl_array_push(array.array_, value);
    }
    return array;
  }
  Array(Array&& other) noexcept : array_(std::exchange(other.array_, nullptr)) {}
  ~Array() { spl_array_free(array_); }
  operator const SplArray*() const { return array_; }  // NOLINT(google-explicit-constructor)
  SplArray* get() const { return array_; }
  std::vector<int64_t> ints() const {
    std::vector<int64_t> items;
    for (int64_t i = 0; i < spl_array_len(array_); ++i) {
      items.push_back(spl_as_int(spl_array_get(array_, i)));
    }
    return items;
  }

 private:
  SplArray* array_;
};

class SimpleSpellings : public CApiTest {};

TEST_F(SimpleSpellings, AcceptAndReturnArrays) {
  const Array dims{2, 3};
  const Handle a(rt_torch_tensor_zeros(dims));
  ASSERT_EQ(rt_torch_last_error_kind(), 0);
  EXPECT_THAT(Array(rt_torch_torchtensor_shape(a)).ints(), ElementsAre(2, 3));
  EXPECT_EQ(shape(Handle(rt_torch_tensor_ones(nullptr))), std::vector<int64_t>{}) << "NULL is the empty list";
}

TEST_F(SimpleSpellings, AcceptFloatsAndIntegersAsData) {
  const Array dims{2};
  const Array floats = Array::of_floats({1.5, 2.5});
  const Array integers{3, 4};
  EXPECT_THAT(values(Handle(rt_torch_tensor_from_data(floats, dims))), ElementsAre(1.5, 2.5));
  const Handle converted(rt_torch_tensor_from_data(integers, dims));
  EXPECT_THAT(values(converted), ElementsAre(3, 4));
  EXPECT_EQ(dtype(converted), "float64");
}

TEST_F(SimpleSpellings, RejectItemsOfTheWrongTypeByName) {
  const Array floats = Array::of_floats({2.5});
  EXPECT_EQ(rt_torch_tensor_zeros(floats), 0);
  EXPECT_EQ(rt_torch_last_error_kind(), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(take_string(rt_torch_last_error_message()), "dims[0]: expected an integer, got a float");
}

TEST_F(SimpleSpellings, AcceptListsLongerThanTheSmallBuffer) {
  const Array dims{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3};
  EXPECT_EQ(shape(Handle(rt_torch_tensor_zeros(dims))).size(), 12U);
}

TEST_F(SimpleSpellings, ReturnSeveralResultsAsHandles) {
  const Handle a = tensor({3, 1, 2}, {3});
  const Array results(rt_torch_torchtensor_topk(a, 2, 0, true, true));
  const std::vector<int64_t> handles = results.ints();
  ASSERT_EQ(handles.size(), 2U);
  EXPECT_THAT(values(Handle(handles[0])), ElementsAre(3, 2));
  EXPECT_THAT(values(Handle(handles[1])), ElementsAre(0, 2));
}

TEST_F(SimpleSpellings, ReturnEmptyValuesOnFailure) {
  EXPECT_EQ(spl_array_len(Array(rt_torch_torchtensor_shape(0))), 0);
  EXPECT_EQ(rt_torch_torchtensor_item(0), 0.0);
  EXPECT_EQ(take_string(rt_torch_torchtensor_text(0)), "");
  EXPECT_EQ(rt_torch_torchtensor_device(0), -1);
  EXPECT_EQ(rt_torch_torchtensor_is_cuda(0), 0);
  EXPECT_EQ(rt_torch_last_error_kind(), SPT_INVALID_HANDLE);
}

TEST_F(SimpleSpellings, FillTheWholeRegisterWithBoolsAndDevices) {
  const Handle a = zeros({1});
  EXPECT_EQ(rt_torch_torchtensor_device(a), int64_t{-1});
  EXPECT_EQ(rt_torch_torchtensor_is_contiguous(a), int64_t{1});
  EXPECT_EQ(rt_torch_available(), int64_t{1});
}

TEST_F(SimpleSpellings, HaveFlatFormsForStockSimplesDynamicCalls) {
  const Handle a(rt_torch_tensor_full_2d(2, 3, std::bit_cast<int64_t>(2.5)));
  EXPECT_EQ(shape(a), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::bit_cast<double>(rt_torch_torchtensor_sum_bits(a)), 15.0);
  const Handle halves(rt_torch_torchtensor_mul_scalar_bits(a, std::bit_cast<int64_t>(0.5)));
  EXPECT_EQ(values(halves).front(), 1.25);
  EXPECT_EQ(shape(Handle(rt_torch_torchtensor_cat_2(a, halves, 0))), (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(shape(Handle(rt_torch_torchtensor_reshape_1d(a, 6))), std::vector<int64_t>{6});
}

TEST_F(SimpleSpellings, HaveThePointerNamesOfTheSpecification) {
  int64_t dims[] = {2, 2};
  constexpr int kFloat64 = 7, kCpu = -1;
  void* const a = simple_torch_ones(dims, 2, kFloat64, kCpu);
  void* const sum = simple_torch_add(a, a);
  void* const again = simple_torch_from_dlpack(simple_torch_to_dlpack(sum));
  const auto handle_of = [](void* pointer) { return reinterpret_cast<int64_t>(pointer); };
  ASSERT_NE(again, nullptr) << spt_last_error_message();
  EXPECT_EQ(dtype(Handle(create(spt_detach, handle_of(again)).release())), "float64");
  EXPECT_THAT(values(create(spt_detach, handle_of(sum))), ElementsAre(2, 2, 2, 2));
  simple_torch_free_tensor(sum);
  EXPECT_THAT(values(create(spt_detach, handle_of(again))), ElementsAre(2, 2, 2, 2))
      << "the memory is shared";
  EXPECT_EQ(simple_torch_add(a, nullptr), nullptr);
  EXPECT_EQ(rt_torch_last_error_kind(), SPT_INVALID_HANDLE);
  simple_torch_free_tensor(a);
  simple_torch_free_tensor(again);
}

TEST_F(SimpleSpellings, BackPropagateByPointer) {
  const Handle x = parameter({3}, {1});
  const Handle square = create(spt_mul, static_cast<int64_t>(x), static_cast<int64_t>(x));
  simple_torch_backward(reinterpret_cast<void*>(static_cast<int64_t>(square)));
  ASSERT_EQ(rt_torch_last_error_kind(), 0) << spt_last_error_message();
  EXPECT_THAT(values(Handle(rt_torch_autograd_grad(x))), ElementsAre(6));
}

TEST_F(SimpleSpellings, HaveTheTypedNamesOfTheSpecification) {
  const Array dims{2, 2}, data = Array::of_floats({-1, 2, -3, 4});
  const Handle a(simple_torch_tensor_from_data(data, dims)), b(simple_torch_tensor_ones(dims));
  EXPECT_THAT(values(Handle(simple_torch_relu(a))), ElementsAre(0, 2, 0, 4));
  EXPECT_THAT(values(Handle(simple_torch_tensor_add(a, b))), ElementsAre(0, 3, -2, 5));
  EXPECT_EQ(simple_torch_tensor_ndim(a), 2);
  EXPECT_EQ(simple_torch_tensor_shape(a), 2);
  EXPECT_EQ(simple_torch_tensor_numel(a), 4);
  EXPECT_EQ(simple_torch_tensor_is_cuda(a), 0);
  EXPECT_EQ(simple_torch_available(), 1);
  EXPECT_THAT(values(Handle(simple_torch_tensor_to_device(a, -1))), ElementsAre(-1, 2, -3, 4));
  for (const int64_t no_handle : {int64_t{0}, int64_t{-7}}) {
    EXPECT_EQ(simple_torch_tensor_ndim(no_handle), -1);
    EXPECT_EQ(simple_torch_tensor_shape(no_handle), -1);
    EXPECT_EQ(simple_torch_tensor_numel(no_handle), -1);
    EXPECT_EQ(simple_torch_sigmoid(no_handle), 0);
  }
  simple_torch_tensor_free(424242);
  EXPECT_EQ(rt_torch_last_error_kind(), 0);
}

TEST_F(SimpleSpellings, FreeAnUnknownTensorSilently) {
  rt_torch_torchtensor_free(0);
  rt_torch_torchtensor_free(424242);
  EXPECT_EQ(rt_torch_last_error_kind(), 0);
}

TEST_F(SimpleSpellings, HaveTheLaterExportsOfStockSimple) {
  const std::vector<double> numbers = {1.5, -2, 3, 4};
  const auto bits = reinterpret_cast<int64_t>(numbers.data());
  const Handle row(rt_dyn_torch_tensor_from_bits_1d(bits, 4));
  EXPECT_EQ(dtype(row), "float64");
  EXPECT_THAT(values(row), ElementsAre(1.5, -2, 3, 4));
  const Handle grid(rt_dyn_torch_tensor_from_bits_2d(bits, 2, 2));
  EXPECT_EQ(shape(grid), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(rt_dyn_torch_tensor_from_bits_1d(0, 4), 0);
  EXPECT_EQ(rt_dyn_torch_tensor_from_bits_1d(bits, 0), 0);
  EXPECT_EQ(rt_dyn_torch_tensor_from_bits_2d(bits, 2, -1), 0);
  EXPECT_EQ(rt_dyn_torch_tensor_from_bits_2d(bits, INT64_MAX, INT64_MAX), 0);

  std::array<double, 4> copied{};
  const auto address = reinterpret_cast<int64_t>(copied.data());
  EXPECT_EQ(rt_dyn_torch_tensor_copy_bits(grid, address, 4), 1);
  EXPECT_THAT(copied, ElementsAre(1.5, -2, 3, 4));
  EXPECT_EQ(rt_dyn_torch_tensor_copy_bits(grid, address, 3), 0);
  EXPECT_EQ(rt_dyn_torch_tensor_copy_bits(grid, 0, 4), 0);
  EXPECT_EQ(rt_dyn_torch_tensor_copy_bits(grid, address, -4), 0);

  const std::vector<std::vector<double>> results = {
      {3, -4, 6, 8}, {0, 0, 0, 0}, {2.25, 4, 9, 16}, {1, 1, 1, 1}};
  for (size_t op = 0; op < results.size(); ++op) {
    EXPECT_EQ(values(Handle(rt_dyn_torch_tensor_binary_op(row, row, static_cast<int64_t>(op)))), results[op]);
  }
  EXPECT_EQ(rt_dyn_torch_tensor_binary_op(row, row, 4), 0);
  EXPECT_EQ(rt_dyn_torch_tensor_binary_op(row, row, -1), 0);
}

TEST_F(SimpleSpellings, HaveTheNamesThatStockSimplesInterpreterLooksUp) {
  const std::vector<double> numbers = {1.5, -2};
  const std::vector<int64_t> dims = {1, 2};
  const auto data = reinterpret_cast<int64_t>(numbers.data());
  const auto sizes = reinterpret_cast<int64_t>(dims.data());
  const Handle doubles(rt_torch_tensor(data, 2, sizes, 2, 1, 0));
  EXPECT_EQ(dtype(doubles), "float64");
  EXPECT_EQ(shape(doubles), dims);
  EXPECT_EQ(dtype(Handle(rt_torch_tensor(data, 2, sizes, 2, 0, 0))), "float32");
  EXPECT_EQ(rt_torch_tensor(data, 3, sizes, 2, 1, 0), 0) << "three values for two elements";
  EXPECT_EQ(rt_torch_tensor(data, 2, sizes, 2, 7, 0), 0) << "unknown dtype";
  EXPECT_EQ(rt_torch_tensor(data, 2, sizes, 2, 1, 100), 0) << "no cuda:99";
  EXPECT_EQ(rt_torch_tensor(0, 2, sizes, 2, 1, 0), 0);

  std::array<float, 3> copied{};
  const auto address = reinterpret_cast<int64_t>(copied.data());
  EXPECT_EQ(rt_torch_copy_data_to_cpu(doubles, address, 3), 2);
  EXPECT_THAT(copied, ElementsAre(1.5F, -2.0F, 0.0F));
  EXPECT_EQ(rt_torch_copy_data_to_cpu(doubles, address, 1), 0);

  EXPECT_EQ(dtype(Handle(rt_ps_torch_tensor_zeros(Array{2}))), "float64");
  EXPECT_EQ(dtype(Handle(rt_ps_torch_tensor_from_data(Array::of_floats({1, 2}), Array{2}))), "float64");

  const int64_t freed = zeros({1}).release();
  EXPECT_EQ(rt_torch_free(freed), 1);
  EXPECT_EQ(rt_torch_free(freed), 0);
}

TEST_F(SimpleSpellings, RejectInvalidArrays) {
  SplArray negative{nullptr, -3, 3};
  SplArray hollow{nullptr, 3, 3};
  SplValue itself{};
  SplArray endless{&itself, 1, 1};
  itself.tag = SPL_ARRAY;
  itself.as_array = &endless;
  const Handle a = zeros({2, 2});
  for (const SplArray* bad : {&negative, &hollow, &endless}) {
    EXPECT_EQ(rt_torch_tensor_zeros(bad), 0);
    EXPECT_EQ(spt_last_error_kind(), SPT_INVALID_ARGUMENT) << spt_last_error_message();
    EXPECT_EQ(rt_torch_torchtensor_reshape(a, bad), 0);
    EXPECT_EQ(rt_torch_torchtensor_cat(bad, 0), 0);
    EXPECT_EQ(rt_torch_tensor_from_data(bad, bad), 0);
    EXPECT_EQ(rt_torch_torchtensor_get_item(a, "v", bad), 0);
    EXPECT_EQ(spt_last_error_kind(), SPT_INVALID_ARGUMENT) << spt_last_error_message();
    spl_array_free(rt_torch_op("sum", "v", bad, bad));
    EXPECT_EQ(spt_last_error_kind(), SPT_INVALID_ARGUMENT) << spt_last_error_message();
    int64_t sum = 0;
    int64_t count = 0;
    ASSERT_EQ(spt_op_find("sum", "dim_IntList", &sum), SPT_OK);
    SplValue arguments[2] = {};
    arguments[0].tag = SPT_TENSOR;
    arguments[0].as_int = a;
    arguments[1].tag = SPL_ARRAY;
    arguments[1].as_array = const_cast<SplArray*>(bad);
    SplValue result{};
    EXPECT_EQ(spt_op_call(sum, arguments, 2, &result, 1, &count), SPT_INVALID_ARGUMENT)
        << spt_last_error_message();
  }
}

TEST_F(SimpleSpellings, NameOverloadsAsPythonDoes) {
  int64_t without_name = 0;
  int64_t by_default = 0;
  EXPECT_EQ(spt_op_find("relu", "", &without_name), SPT_OK);
  EXPECT_EQ(spt_op_find("relu", "default", &by_default), SPT_OK);
  char* schemas = nullptr;
  ASSERT_EQ(spt_op_schemas("aten::add.Tensor", &schemas), SPT_OK);
  EXPECT_EQ(take_string(schemas), "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  ASSERT_EQ(spt_op_schemas("relu.default", &schemas), SPT_OK);
  EXPECT_EQ(take_string(schemas), "aten::relu(Tensor self) -> Tensor");
  ASSERT_EQ(spt_op_schemas("add.Nothing", &schemas), SPT_OK);
  EXPECT_EQ(take_string(schemas), "");
}

}  // namespace
