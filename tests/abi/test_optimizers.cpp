// The contract of optimizers by name: groups, options and state. tests/optim compares the results of steps
// with Python's.
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "capi_test.h"

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

SplValue number(double value) {
  SplValue item{};
  item.tag = SPL_FLOAT;
  item.as_float = value;
  return item;
}
SplValue handle_value(int64_t handle) {
  SplValue item{};
  item.tag = SPL_INT;
  item.as_int = handle;
  return item;
}

/// Options or state as arguments: a letter and a name for each value.
struct NamedValues {
  std::string kinds;
  std::vector<const char*> names;
  std::shared_ptr<SplArray> values{spl_array_new(), spl_array_free};

  NamedValues with(const char* name, const SplValue& value, char kind = 'v') && {
    kinds += kind;
    names.push_back(name);
    spl_array_push(values.get(), value);
    return std::move(*this);
  }
};

/// Options or state as a result; its handles are released.
class Taken {
 public:
  explicit Taken(SplArray* array) : array_(array) {}
  ~Taken() {
    const std::string kinds = array_->items[0].as_string;
    for (size_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i] == 't') {
        spt_release(item(i).as_int);
      }
    }
    spl_array_free(array_);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  std::string kinds() const { return array_->items[0].as_string; }
  std::string names() const { return array_->items[1].as_string; }
  const SplValue& item(size_t i) const { return array_->items[i + 2]; }

 private:
  SplArray* array_;
};

class OptimizersByName : public CApiTest {
 protected:
  static int32_t create_optimizer(const char* algorithm, const NamedValues& options, int64_t* out) {
    return spt_optim_new(algorithm, options.kinds.c_str(), options.values.get(), options.names.data(),
                         static_cast<int64_t>(options.names.size()), out);
  }
  static int32_t add(int64_t optimizer, const std::vector<int64_t>& params, const NamedValues& options = {}) {
    return spt_optim_add_group(optimizer, params.data(), static_cast<int64_t>(params.size()),
                               options.kinds.c_str(), options.values.get(), options.names.data(),
                               static_cast<int64_t>(options.names.size()));
  }
  static Handle sgd(double lr = 0.5) {
    int64_t out = 0;
    EXPECT_EQ(create_optimizer("SGD", NamedValues().with("lr", number(lr)), &out), SPT_OK)
        << spt_last_error_message();
    return Handle(out);
  }
  static std::unique_ptr<Taken> option(int64_t optimizer, int64_t group, const char* name) {
    SplArray* out = nullptr;
    EXPECT_EQ(spt_optim_option(optimizer, group, name, &out), SPT_OK) << spt_last_error_message();
    return std::make_unique<Taken>(out);
  }
  static std::unique_ptr<Taken> state(int64_t optimizer, int64_t param) {
    SplArray* out = nullptr;
    EXPECT_EQ(spt_optim_state(optimizer, param, &out), SPT_OK) << spt_last_error_message();
    return std::make_unique<Taken>(out);
  }
};

TEST_F(OptimizersByName, StepEachGroupWithOptionsOfItsOwn) {
  const Handle a = parameter({1}, {1});
  const Handle b = parameter({1}, {1});
  const Handle optimizer = sgd();
  ASSERT_EQ(add(optimizer, {a}), SPT_OK) << spt_last_error_message();
  ASSERT_EQ(add(optimizer, {b}, NamedValues().with("lr", number(0.25)).with("mine", number(7))), SPT_OK);
  ASSERT_EQ(spt_backward(a), SPT_OK);
  ASSERT_EQ(spt_backward(b), SPT_OK);
  ASSERT_EQ(spt_optim_step(optimizer), SPT_OK);
  EXPECT_THAT(values(a), ElementsAre(0.5));
  EXPECT_THAT(values(b), ElementsAre(0.75));
  EXPECT_EQ(option(optimizer, 1, "mine")->item(0).as_float, 7);
  int64_t count = 0;
  EXPECT_EQ(spt_optim_group_count(optimizer, &count), SPT_OK);
  EXPECT_EQ(count, 2);
}

TEST_F(OptimizersByName, ReturnTheirParameters) {
  const Handle a = parameter({1, 2}, {2});
  const Handle optimizer = sgd();
  ASSERT_EQ(add(optimizer, {a}), SPT_OK);
  int64_t* params = nullptr;
  int64_t count = 0;
  ASSERT_EQ(spt_optim_group_params(optimizer, 0, &params, &count), SPT_OK);
  ASSERT_EQ(count, 1);
  EXPECT_THAT(values(params[0]), ElementsAre(1, 2));
  EXPECT_EQ(spt_release(params[0]), SPT_OK);
  spt_free(params);
  EXPECT_EQ(spt_optim_group_params(optimizer, 1, &params, &count), SPT_INDEX_OUT_OF_RANGE);
}

TEST_F(OptimizersByName, ReadAndChangeOptions) {
  const Handle a = parameter({1}, {1});
  const Handle optimizer = sgd();
  ASSERT_EQ(add(optimizer, {a}), SPT_OK);
  SplArray* out = nullptr;
  ASSERT_EQ(spt_optim_options(optimizer, 0, &out), SPT_OK);
  EXPECT_EQ(Taken(out).names(),
            "lr,momentum,dampening,weight_decay,nesterov,maximize,foreach,differentiable,fused");
  EXPECT_EQ(option(optimizer, 0, "lr")->item(0).as_float, 0.5);
  EXPECT_EQ(option(optimizer, 0, "none")->kinds(), "");
  const NamedValues changed = NamedValues().with("value", number(0.125));
  ASSERT_EQ(spt_optim_set_option(optimizer, 0, "lr", "v", changed.values.get()), SPT_OK);
  EXPECT_EQ(option(optimizer, 0, "lr")->item(0).as_float, 0.125);
  EXPECT_EQ(spt_optim_set_option(optimizer, 0, "lr", "", nullptr), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_optim_set_option(optimizer, 3, "lr", "v", changed.values.get()), SPT_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(spt_optim_options(optimizer, -1, &out), SPT_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(spt_optim_option(optimizer, 1, "lr", &out), SPT_INDEX_OUT_OF_RANGE);
}

TEST_F(OptimizersByName, SaveAndLoadTheirState) {
  const Handle a = parameter({1}, {1});
  int64_t out = 0;
  ASSERT_EQ(create_optimizer("Adam", NamedValues(), &out), SPT_OK);
  const Handle optimizer(out);
  ASSERT_EQ(add(optimizer, {a}), SPT_OK);
  EXPECT_EQ(state(optimizer, 0)->kinds(), "");
  ASSERT_EQ(spt_backward(a), SPT_OK);
  ASSERT_EQ(spt_optim_step(optimizer), SPT_OK);
  EXPECT_EQ(state(optimizer, 0)->names(), "step,exp_avg,exp_avg_sq");
  EXPECT_EQ(state(optimizer, 0)->kinds(), "ttt");
  const Handle average = tensor({3}, {1});
  const NamedValues loaded =
      NamedValues().with("step", number(4)).with("exp_avg", handle_value(average), 't');
  ASSERT_EQ(
      spt_optim_load_state(optimizer, 0, loaded.kinds.c_str(), loaded.values.get(), loaded.names.data(), 2),
      SPT_OK);
  const auto now = state(optimizer, 0);
  EXPECT_EQ(now->names(), "step,exp_avg");
  EXPECT_THAT(values(now->item(0).as_int), ElementsAre(4));
  EXPECT_THAT(values(now->item(1).as_int), ElementsAre(3));
  EXPECT_EQ(spt_optim_step(optimizer), SPT_INVALID_ARGUMENT) << "exp_avg_sq is missing";
  EXPECT_THAT(spt_last_error_message(), HasSubstr("exp_avg_sq"));
  EXPECT_EQ(spt_optim_load_state(optimizer, 0, "v", loaded.values.get(), loaded.names.data(), 2),
            SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_optim_load_state(optimizer, 1, "", nullptr, nullptr, 0), SPT_INDEX_OUT_OF_RANGE);
  SplArray* none = nullptr;
  EXPECT_EQ(spt_optim_state(optimizer, 1, &none), SPT_INDEX_OUT_OF_RANGE);
}

TEST_F(OptimizersByName, RejectUnknownOptions) {
  int64_t out = kUntouched;
  EXPECT_EQ(create_optimizer("Adamant", NamedValues(), &out), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("Adadelta, Adafactor, Adagrad, Adam"));
  EXPECT_EQ(create_optimizer("Adam", NamedValues().with("rate", number(1)), &out), SPT_INVALID_ARGUMENT);
  EXPECT_STREQ(spt_last_error_message(), "Adam.__init__() got an unexpected keyword argument 'rate'");
  EXPECT_EQ(create_optimizer("Adam", NamedValues().with("lr", number(-1)), &out), SPT_INVALID_ARGUMENT);
  EXPECT_STREQ(spt_last_error_message(), "Invalid learning rate: -1.0");
  EXPECT_EQ(create_optimizer("Adam", NamedValues().with("differentiable", number(1)), &out),
            SPT_NOT_IMPLEMENTED);
  EXPECT_EQ(create_optimizer(nullptr, NamedValues(), &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
}

TEST_F(OptimizersByName, RejectParametersThatTheyCannotTrain) {
  const Handle a = parameter({1}, {1});
  const Handle whole = integers({1}, {1});
  const Handle result = create(spt_neg, int64_t{a});
  const Handle optimizer = sgd();
  ASSERT_EQ(add(optimizer, {a}), SPT_OK);
  EXPECT_EQ(add(optimizer, {a}), SPT_INVALID_ARGUMENT);
  EXPECT_STREQ(spt_last_error_message(), "some parameters appear in more than one parameter group");
  EXPECT_EQ(add(optimizer, {result}), SPT_INVALID_ARGUMENT);
  EXPECT_STREQ(spt_last_error_message(), "can't optimize a non-leaf Tensor");
  EXPECT_EQ(add(optimizer, {whole}), SPT_INVALID_ARGUMENT);
  const Handle b = parameter({1}, {1});
  EXPECT_EQ(add(optimizer, {b, b}), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(add(optimizer, {b}, NamedValues().with("momentum", number(-1))), SPT_INVALID_ARGUMENT);
  EXPECT_STREQ(spt_last_error_message(), "Invalid momentum value: -1.0");
  int64_t count = 0;
  EXPECT_EQ(spt_optim_group_count(optimizer, &count), SPT_OK);
  EXPECT_EQ(count, 1);
}

}  // namespace
