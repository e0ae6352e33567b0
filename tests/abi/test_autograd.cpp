// Backward passes over several tensors, steps of custom functions, hooks and modes, through the C ABI.
// Expected values are from calculus.
#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/abi/capi_test.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BackwardPasses : public CApiTest {
 protected:
  void TearDown() override {
    ended_count = 0;
    hooked = 0;
    dropped = 0;
    CApiTest::TearDown();
  }

  static std::vector<Handle> take_list(int64_t* items, int64_t count) {
    std::vector<Handle> list;
    for (int64_t i = 0; i < count; ++i) {
      list.emplace_back(items[i]);
    }
    spt_free(items);
    return list;
  }

  static std::vector<Handle> gradients_of(const Handle& output, const std::vector<int64_t>& inputs,
                                          bool allow_unused) {
    const int64_t outputs[] = {output};
    int64_t* items = nullptr;
    int64_t count = 0;
    EXPECT_EQ(spt_grad_of(outputs, 1, inputs.data(), size(inputs), nullptr, 0, true, false, allow_unused,
                          &items, &count),
              SPT_OK)
        << spt_last_error_message();
    return take_list(items, count);
  }

  static Handle square_of(int64_t x) { return create(spt_mul, x, x); }
  static Handle sum_of(int64_t x) { return create(spt_sum_all, x); }
  static std::vector<double> gradient(int64_t x) { return values(create(spt_grad, x)); }

  // The state that C callbacks use.
  static inline int ended_count = 0;
  static inline int hooked = 0;
  static inline int dropped = 0;
  static inline int64_t kept = 0;
  static void ended(int64_t /*key*/) { ++ended_count; }
  static void dropped_one(int64_t /*number*/) { ++dropped; }
};

TEST_F(BackwardPasses, AccumulateIntoTheGivenLeavesOnly) {
  const Handle x = parameter({3}, {1});
  const Handle y = parameter({5}, {1});
  const Handle product = create(spt_mul, int64_t{x}, int64_t{y});
  const int64_t roots[] = {product};
  const int64_t leaves[] = {x};
  ASSERT_EQ(spt_backward_of(roots, 1, nullptr, 0, leaves, 1, false, false), SPT_OK)
      << spt_last_error_message();
  EXPECT_THAT(gradient(x), ElementsAre(5));
  int64_t none = kUntouched;
  EXPECT_EQ(spt_grad(y, &none), SPT_OK);
  EXPECT_EQ(none, 0);
}

TEST_F(BackwardPasses, AcceptGradientsOfSeveralTensors) {
  const Handle x = parameter({3, 4}, {2});
  const Handle square = square_of(x);
  const Handle sum = sum_of(x);
  const Handle inputs = tensor({1, 10}, {2});
  const int64_t roots[] = {square, sum};
  const int64_t gradients[] = {inputs, 0};
  ASSERT_EQ(spt_backward_of(roots, 2, gradients, 2, nullptr, 0, false, false), SPT_OK)
      << spt_last_error_message();
  EXPECT_THAT(gradient(x), ElementsAre(7, 81)) << "2 x times the gradient, plus 1";
  EXPECT_EQ(spt_backward_of(roots, 2, gradients, 1, nullptr, 0, false, false), SPT_INVALID_ARGUMENT);
}

TEST_F(BackwardPasses, ReturnGradientsWithoutAccumulating) {
  const Handle x = parameter({3}, {1});
  const Handle unused = parameter({1}, {1});
  const std::vector<Handle> found = gradients_of(square_of(x), {x, unused}, true);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(values(found[0]), ElementsAre(6));
  EXPECT_EQ(int64_t{found[1]}, 0);
  int64_t none = kUntouched;
  EXPECT_EQ(spt_grad(x, &none), SPT_OK);
  EXPECT_EQ(none, 0);
}

TEST_F(BackwardPasses, RejectASecondDerivativeOfOnceDifferentiable) {
  const Handle x = parameter({3}, {1});
  const Handle square = square_of(x);
  const int64_t tensors[] = {square, 0};
  int64_t* items = nullptr;
  int64_t count = 0;
  ASSERT_EQ(spt_once_differentiable(tensors, 2, &items, &count), SPT_OK);
  const std::vector<Handle> list = take_list(items, count);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_THAT(values(create(spt_detach, int64_t{list[0]})), ElementsAre(9));
  EXPECT_EQ(int64_t{list[1]}, 0);
  EXPECT_NE(spt_backward(list[0]), SPT_OK);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("once_differentiable"));
}

TEST_F(BackwardPasses, HaveAnIdWhileTheyRun) {
  int64_t outside = kUntouched;
  EXPECT_EQ(spt_graph_task(&outside), SPT_OK);
  EXPECT_EQ(outside, -1);
  kept = -1;
  const auto note = [](int64_t, int64_t gradient) -> int64_t {
    spt_graph_task(&kept);
    spt_release(gradient);
    return -1;
  };
  const Handle x = parameter({1}, {1});
  int64_t hook = 0;
  ASSERT_EQ(spt_register_hook(x, 1, note, ended, &hook), SPT_OK);
  ASSERT_EQ(spt_backward(square_of(x)), SPT_OK);
  EXPECT_GE(kept, 0);
  EXPECT_EQ(spt_remove_hook(hook), SPT_OK);
  EXPECT_EQ(ended_count, 1);
}

TEST_F(BackwardPasses, CallThePostAccumulateGradHookAfterAccumulation) {
  const auto note = [](int64_t key, int64_t leaf) -> int64_t {
    int64_t gradient = 0;
    if (key == 7 && spt_grad(leaf, &gradient) == SPT_OK && gradient != 0) {
      ++hooked;
      spt_release(gradient);
    }
    spt_release(leaf);
    return -1;
  };
  const Handle x = parameter({1}, {1});
  int64_t hook = 0;
  ASSERT_EQ(spt_register_post_accumulate_grad_hook(x, 7, note, ended, &hook), SPT_OK);
  ASSERT_EQ(spt_backward(square_of(x)), SPT_OK) << spt_last_error_message();
  ASSERT_EQ(spt_backward(square_of(x)), SPT_OK);
  EXPECT_EQ(hooked, 2);
  EXPECT_EQ(spt_remove_hook(hook), SPT_OK);
  const Handle result = square_of(x);
  EXPECT_EQ(spt_register_post_accumulate_grad_hook(result, 7, note, ended, &hook), SPT_INVALID_ARGUMENT);
}

TEST_F(BackwardPasses, PackAndUnpackSavedTensors) {
  const auto pack = [](int64_t, int64_t tensor) -> int64_t {
    ++hooked;
    return tensor;  // packed as its own handle
  };
  const auto unpack = [](int64_t, int64_t number) -> int64_t {
    int64_t copy = 0;
    return spt_another_handle(number, &copy) == SPT_OK ? copy : 0;
  };
  const auto release = [](int64_t number) {
    ++dropped;
    spt_release(number);
  };
  {
    const Handle x = parameter({3}, {1});
    ASSERT_EQ(spt_saved_tensors_hooks_begin(1, pack, unpack, release, ended), SPT_OK);
    const Handle square = square_of(x);
    ASSERT_EQ(spt_saved_tensors_hooks_end(), SPT_OK);
    EXPECT_GE(hooked, 1);
    ASSERT_EQ(spt_backward(square), SPT_OK) << spt_last_error_message();
    EXPECT_THAT(gradient(x), ElementsAre(6));
  }
  EXPECT_EQ(dropped, hooked);
  EXPECT_EQ(ended_count, 1);
}

// Returns its input, modified in place, and a second output. The test sets how it marks them.
struct Marks {
  bool is_dirty = false;
  bool is_non_differentiable = false;
  bool materializes = true;
  int64_t zeros_seen = 0;
};
Marks marks;

int64_t forward_in_place(int64_t /*key*/, int64_t step) {
  int64_t* inputs = nullptr;
  int64_t count = 0;
  int64_t other = 0;
  if (spt_step_tensors(step, &inputs, &count) != SPT_OK || spt_mul_scalar(inputs[0], 3.0, &other) != SPT_OK) {
    return 0;
  }
  if (marks.is_dirty) {
    spt_zero_(inputs[0]);
    spt_step_mark_dirty(step, inputs, 1);
  }
  if (marks.is_non_differentiable) {
    spt_step_mark_non_differentiable(step, &other, 1);
  }
  spt_step_set_materialize_grads(step, marks.materializes);
  const int64_t outputs[] = {inputs[0], other};
  spt_step_set_results(step, outputs, 2);
  spt_release(other);
  spt_release(inputs[0]);
  spt_free(inputs);
  return 1;
}

int64_t backward_of_the_first(int64_t /*key*/, int64_t step) {
  int64_t* gradients = nullptr;
  int64_t count = 0;
  if (spt_step_tensors(step, &gradients, &count) != SPT_OK) {
    return 0;
  }
  marks.zeros_seen = gradients[1] == 0 ? -1 : 1;
  spt_step_set_results(step, gradients, 1);
  for (int64_t i = 0; i < count; ++i) {
    spt_release(gradients[i]);
  }
  spt_free(gradients);
  return 1;
}

class CustomFunctionSteps : public BackwardPasses {
 protected:
  std::vector<Handle> run(int64_t x) {
    int64_t* items = nullptr;
    int64_t count = 0;
    EXPECT_EQ(
        spt_custom_function("Twin", 1, &x, 1, forward_in_place, backward_of_the_first, ended, &items, &count),
        SPT_OK)
        << spt_last_error_message();
    return take_list(items, count);
  }
  void TearDown() override {
    marks = Marks();
    BackwardPasses::TearDown();
  }
  static bool requires_grad(int64_t x) {
    bool out = false;
    EXPECT_EQ(spt_requires_grad(x, &out), SPT_OK);
    return out;
  }
};

TEST_F(CustomFunctionSteps, OfForwardBelongToTheirThread) {
  const Handle x = parameter({2}, {1});
  const Handle step = create(spt_function_begin);
  const auto on_another_thread = [](auto&& call) {
    int32_t status = SPT_OK;
    std::thread([&] { status = call(); }).join();
    return status;
  };
  int64_t out = 0;
  int64_t* list = nullptr;
  EXPECT_EQ(on_another_thread([&] { return spt_step_add_input(step, x, &out); }), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(on_another_thread([&] { return spt_step_set_results(step, nullptr, 0); }), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(on_another_thread([&] { return spt_step_tensors(step, &list, &out); }), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(on_another_thread([&] { return spt_function_end(step, 1, 1, &out); }), SPT_INVALID_ARGUMENT);
  ASSERT_EQ(spt_step_add_input(step, x, &out), SPT_OK);
  EXPECT_EQ(out, 1);
}

TEST_F(CustomFunctionSteps, MarkNonDifferentiableOutputs) {
  marks.is_non_differentiable = true;
  const Handle x = parameter({2}, {1});
  const std::vector<Handle> outputs = run(x);
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_TRUE(requires_grad(outputs[0]));
  EXPECT_FALSE(requires_grad(outputs[1]));
}

TEST_F(CustomFunctionSteps, MarkDirtyInputs) {
  marks.is_dirty = true;
  const Handle x = parameter({2}, {1});
  const Handle inner = square_of(x);
  const std::vector<Handle> outputs = run(inner);
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_THAT(values(create(spt_detach, int64_t{inner})), ElementsAre(0));
  char* name = nullptr;
  ASSERT_EQ(spt_grad_fn_name(inner, &name), SPT_OK);
  EXPECT_EQ(take_string(name), "TwinBackward") << "the result is the input tensor itself";
}

TEST_F(CustomFunctionSteps, MaterializeGradientsOfUnusedOutputs) {
  for (const bool materializes : {true, false}) {
    marks.materializes = materializes;
    const Handle x = parameter({2}, {1});
    const std::vector<Handle> outputs = run(x);
    ASSERT_EQ(spt_backward(sum_of(outputs[0])), SPT_OK) << spt_last_error_message();
    EXPECT_EQ(marks.zeros_seen, materializes ? 1 : -1);
  }
}

TEST_F(BackwardPasses, ReportTheSourceLocationInAnomalyMode) {
  const auto place = []() -> char* { return strdup("program.c:12"); };
  bool is_on = true;
  bool is_checking = false;
  ASSERT_EQ(spt_set_detect_anomaly(true, true, place), SPT_OK);
  ASSERT_EQ(spt_is_anomaly_enabled(&is_on), SPT_OK);
  ASSERT_EQ(spt_is_anomaly_check_nan_enabled(&is_checking), SPT_OK);
  EXPECT_TRUE(is_on && is_checking);
  {
    const Handle x = parameter({-1}, {1});
    const Handle root = create(spt_sqrt, int64_t{x});
    EXPECT_NE(spt_backward(root), SPT_OK);
    EXPECT_THAT(spt_last_error_message(), HasSubstr("SqrtBackward0"));
    EXPECT_THAT(spt_last_error_message(), HasSubstr("program.c:12"));
  }
  ASSERT_EQ(spt_set_detect_anomaly(false, true, nullptr), SPT_OK);
  ASSERT_EQ(spt_is_anomaly_enabled(&is_on), SPT_OK);
  EXPECT_FALSE(is_on);
}

TEST_F(BackwardPasses, RejectInferenceTensors) {
  bool is_on = false;
  ASSERT_EQ(spt_inference_mode_begin(true), SPT_OK);
  ASSERT_EQ(spt_is_inference_mode_enabled(&is_on), SPT_OK);
  EXPECT_TRUE(is_on);
  const Handle x = tensor({1}, {1});
  ASSERT_EQ(spt_inference_mode_end(), SPT_OK);
  ASSERT_EQ(spt_is_inference_mode_enabled(&is_on), SPT_OK);
  EXPECT_FALSE(is_on);
  EXPECT_NE(spt_set_requires_grad(x, true), SPT_OK);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("inference"));
}

TEST_F(CApiTest, RngStateIsRestored) {
  const Handle state = create(spt_rng_state, "cpu");
  const int64_t dims[] = {4};
  const std::vector<double> first = values(create(spt_rand, dims, int64_t{1}));
  ASSERT_EQ(spt_set_rng_state("cpu", state), SPT_OK) << spt_last_error_message();
  EXPECT_EQ(values(create(spt_rand, dims, int64_t{1})), first);
  EXPECT_NE(spt_set_rng_state("cpu", tensor({1}, {1})), SPT_OK) << "not a state";
  int64_t none = 0;
  EXPECT_EQ(spt_rng_state("nowhere", &none), SPT_INVALID_ARGUMENT);
}

}  // namespace
