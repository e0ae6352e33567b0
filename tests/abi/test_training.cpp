// Autograd and optimizers. Expected gradients are from calculus, expected steps from Python's PyTorch.
#include "tests/abi/capi_test.h"
#include "tests/abi/expected_values.h"

namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::Pointwise;

class Autograd : public CApiTest {
 protected:
  static Handle square_sum(int64_t x) { return create(spt_sum_all, int64_t{create(spt_mul, x, x)}); }
};

TEST_F(Autograd, AccumulatesTheDerivative) {
  const Handle x = parameter({1, -2, 3}, {3});
  ASSERT_EQ(spt_backward(square_sum(x)), SPT_OK) << spt_last_error_message();
  EXPECT_THAT(values(create(spt_grad, int64_t{x})), ElementsAre(2, -4, 6));
  ASSERT_EQ(spt_backward(square_sum(x)), SPT_OK);
  EXPECT_THAT(values(create(spt_grad, int64_t{x})), ElementsAre(4, -8, 12));
  ASSERT_EQ(spt_zero_grad(x), SPT_OK);
  EXPECT_THAT(values(create(spt_grad, int64_t{x})), ElementsAre(0, 0, 0));
}

TEST_F(Autograd, ReturnsNoHandleWithoutAGradient) {
  const Handle x = parameter({1}, {1});
  int64_t grad = kUntouched;
  EXPECT_EQ(spt_grad(x, &grad), SPT_OK) << "not an error";
  EXPECT_EQ(grad, 0);
  EXPECT_EQ(spt_zero_grad(x), SPT_OK);
}

TEST_F(Autograd, RejectsASecondPassThroughAFreedGraph) {
  const Handle x = parameter({1, 2}, {2});
  const Handle loss = square_sum(x);
  ASSERT_EQ(spt_backward_with(loss, 0, true, false), SPT_OK);
  ASSERT_EQ(spt_backward(loss), SPT_OK);
  EXPECT_EQ(spt_backward(loss), SPT_INVALID_ARGUMENT);
}

TEST_F(Autograd, DifferentiatesTwice) {
  const Handle x = parameter({3}, {1});
  const Handle cube = create(spt_pow_int, int64_t{x}, int64_t{3});
  ASSERT_EQ(spt_backward_with(cube, 0, true, true), SPT_OK);
  const Handle first = create(spt_grad, int64_t{x});
  EXPECT_THAT(values(first), ElementsAre(27));
  ASSERT_EQ(spt_set_grad(x, 0), SPT_OK);
  ASSERT_EQ(spt_backward(first), SPT_OK);
  EXPECT_THAT(values(create(spt_grad, int64_t{x})), ElementsAre(18)) << "6 x";
  ASSERT_EQ(spt_set_grad(x, 0), SPT_OK) << "breaks the cycle of x and its graph";
}

TEST_F(Autograd, RecordsNothingInNoGradMode) {
  const Handle x = parameter({1}, {1});
  bool requires_grad = true;
  ASSERT_EQ(spt_no_grad_begin(), SPT_OK);
  ASSERT_EQ(spt_no_grad_begin(), SPT_OK);
  const Handle y = create(spt_neg, int64_t{x});
  ASSERT_EQ(spt_no_grad_end(), SPT_OK) << "one end is enough: begin does not nest";
  EXPECT_EQ(spt_requires_grad(y, &requires_grad), SPT_OK);
  EXPECT_FALSE(requires_grad);
  EXPECT_EQ(spt_requires_grad(create(spt_neg, int64_t{x}), &requires_grad), SPT_OK);
  EXPECT_TRUE(requires_grad);
}

TEST_F(Autograd, RestoresGradMode) {
  bool before = false;
  ASSERT_EQ(spt_set_grad_enabled(false, &before), SPT_OK);
  EXPECT_TRUE(before);
  ASSERT_EQ(spt_set_grad_enabled(before, &before), SPT_OK);
  EXPECT_FALSE(before);
}

TEST_F(Autograd, DifferentiatesALoss) {
  const Handle x = parameter({1, 2}, {2});
  const Handle target = zeros({2});
  ASSERT_EQ(spt_backward(create(spt_mse_loss, int64_t{x}, int64_t{target}, int64_t{1})), SPT_OK);
  EXPECT_THAT(values(create(spt_grad, int64_t{x})), ElementsAre(1, 2));
}

TEST_F(Autograd, RejectsAnInPlaceChangeOfALeaf) {
  const Handle x = parameter({1}, {1});
  EXPECT_EQ(spt_fill_(x, 2), SPT_INVALID_ARGUMENT);
}

class Optimizers : public CApiTest {
 protected:
  /// The steps of weights_after() in record_expected.py.
  static std::vector<double> weights_after(int steps, auto&& make) {
    const Handle weights = parameter({1, -2, 0.5, 3}, {4});
    const int64_t params[] = {weights};
    const Handle optimizer = make(params);
    const Handle curvature = tensor({1, 0.5, 2, 0.1}, {4});
    for (int i = 0; i < steps; ++i) {
      EXPECT_EQ(spt_optim_zero_grad(optimizer, true), SPT_OK);
      const Handle squares = create(spt_mul, int64_t{weights}, int64_t{weights});
      const Handle loss = create(spt_sum_all, int64_t{create(spt_mul, int64_t{squares}, int64_t{curvature})});
      EXPECT_EQ(spt_backward(loss), SPT_OK);
      EXPECT_EQ(spt_optim_step(optimizer), SPT_OK) << spt_last_error_message();
    }
    return values(weights);
  }
  static auto adam(double lr, double decay, bool amsgrad, bool decoupled) {
    return [=](const int64_t* params) {
      return create(spt_optim_adam_new, params, int64_t{1}, lr, 0.9, 0.999, 1e-8, decay, amsgrad, decoupled);
    };
  }
  static auto sgd(double momentum, double dampening, double decay, bool nesterov) {
    return [=](const int64_t* params) {
      return create(spt_optim_sgd_new, params, int64_t{1}, 0.1, momentum, dampening, decay, nesterov);
    };
  }
};

TEST_F(Optimizers, StepAsAdamDoesInPython) {
  EXPECT_THAT(weights_after(5, adam(0.1, 0, false, false)), Pointwise(FloatEq(), expected::kAdam));
  EXPECT_THAT(weights_after(5, adam(0.05, 0.1, true, false)),
              Pointwise(FloatEq(), expected::kAdamDecayAmsgrad));
  EXPECT_THAT(weights_after(5, adam(0.1, 0.2, false, true)), Pointwise(FloatEq(), expected::kAdamW));
}

TEST_F(Optimizers, StepAsSgdDoesInPython) {
  EXPECT_THAT(weights_after(5, sgd(0, 0, 0, false)), Pointwise(FloatEq(), expected::kSgd));
  EXPECT_THAT(weights_after(5, sgd(0.9, 0.1, 0.01, false)), Pointwise(FloatEq(), expected::kSgdMomentum));
  EXPECT_THAT(weights_after(5, sgd(0.9, 0, 0, true)), Pointwise(FloatEq(), expected::kSgdNesterov));
}

TEST_F(Optimizers, IgnoreParametersWithoutAGradient) {
  const Handle used = parameter({1}, {1});
  const Handle unused = parameter({1}, {1});
  const int64_t params[] = {used, unused};
  const Handle optimizer = create(spt_optim_sgd_new, params, int64_t{2}, 0.5, 0.0, 0.0, 0.0, false);
  ASSERT_EQ(spt_backward(used), SPT_OK);
  ASSERT_EQ(spt_optim_step(optimizer), SPT_OK);
  EXPECT_THAT(values(used), ElementsAre(0.5));
  EXPECT_THAT(values(unused), ElementsAre(1));
}

TEST_F(Optimizers, ChangeTheirLearningRate) {
  const Handle x = parameter({1}, {1});
  const int64_t params[] = {x};
  const Handle optimizer = create(spt_optim_sgd_new, params, int64_t{1}, 0.5, 0.0, 0.0, 0.0, false);
  ASSERT_EQ(spt_optim_set_lr(optimizer, 0.25), SPT_OK);
  double lr = 0;
  EXPECT_EQ(spt_optim_lr(optimizer, &lr), SPT_OK);
  EXPECT_DOUBLE_EQ(lr, 0.25);
  ASSERT_EQ(spt_backward(x), SPT_OK);
  ASSERT_EQ(spt_optim_step(optimizer), SPT_OK);
  EXPECT_THAT(values(x), ElementsAre(0.75));
  EXPECT_EQ(spt_optim_set_lr(optimizer, -1), SPT_INVALID_ARGUMENT);
}

TEST_F(Optimizers, RemoveGradientsOrFillThemWithZeros) {
  const Handle x = parameter({1}, {1});
  const int64_t params[] = {x};
  const Handle optimizer = create(spt_optim_sgd_new, params, int64_t{1}, 0.5, 0.0, 0.0, 0.0, false);
  ASSERT_EQ(spt_backward(x), SPT_OK);
  ASSERT_EQ(spt_optim_zero_grad(optimizer, false), SPT_OK);
  EXPECT_THAT(values(create(spt_grad, int64_t{x})), ElementsAre(0));
  ASSERT_EQ(spt_optim_zero_grad(optimizer, true), SPT_OK);
  int64_t grad = kUntouched;
  EXPECT_EQ(spt_grad(x, &grad), SPT_OK);
  EXPECT_EQ(grad, 0);
}

TEST_F(Optimizers, RejectTensorsThatCannotBeOptimized) {
  const Handle x = parameter({1}, {1});
  const Handle y = create(spt_neg, int64_t{x});
  const Handle whole = integers({1}, {1});
  int64_t out = kUntouched;
  const int64_t twice[] = {x, x};
  const int64_t result[] = {y};
  const int64_t integer[] = {whole};
  EXPECT_EQ(spt_optim_sgd_new(nullptr, 0, 0.1, 0, 0, 0, false, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_optim_sgd_new(twice, 2, 0.1, 0, 0, 0, false, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_optim_sgd_new(result, 1, 0.1, 0, 0, 0, false, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_optim_sgd_new(integer, 1, 0.1, 0, 0, 0, false, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_optim_adam_new(twice, 1, 0.1, 1.5, 0.9, 1e-8, 0, false, false, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_optim_adam_new(twice, 1, -0.1, 0.9, 0.9, 1e-8, 0, false, false, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
}

}  // namespace
