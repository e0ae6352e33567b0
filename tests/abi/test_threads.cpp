// State of threads and of the process as in PyTorch, and handles that threads share.
#include <algorithm>
#include <thread>

#include "capi_test.h"

namespace {

constexpr int kThreads = 16;

template <class Body>
void on_threads(int count, Body&& body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int which = 0; which < count; ++which) {
    threads.emplace_back(body, which);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

bool grad_enabled() {
  bool enabled = false;
  EXPECT_EQ(spt_grad_enabled(&enabled), SPT_OK);
  return enabled;
}

class Threads : public CApiTest {};

TEST_F(Threads, EachHasItsOwnGradMode) {
  ASSERT_EQ(spt_no_grad_begin(), SPT_OK);
  on_threads(1, [](int) {
    EXPECT_TRUE(grad_enabled()) << "grad mode is on in a new thread";
    EXPECT_EQ(spt_no_grad_begin(), SPT_OK);
    EXPECT_FALSE(grad_enabled());
    EXPECT_EQ(spt_no_grad_end(), SPT_OK);
    EXPECT_TRUE(grad_enabled());
  });
  EXPECT_FALSE(grad_enabled());
  ASSERT_EQ(spt_no_grad_end(), SPT_OK);
}

TEST_F(Threads, ShareTheDefaultDtype) {
  int64_t before = 0, float64 = 7, seen = 0;
  ASSERT_EQ(spt_default_dtype(&before), SPT_OK);
  on_threads(1, [=](int) { EXPECT_EQ(spt_set_default_dtype(float64), SPT_OK); });
  ASSERT_EQ(spt_default_dtype(&seen), SPT_OK);
  EXPECT_EQ(seen, float64);
  ASSERT_EQ(spt_set_default_dtype(before), SPT_OK);
}

TEST_F(Threads, ShareTheDefaultGenerator) {
  // Sixteen threads draw one number each; together they are the sixteen numbers that follow the seed.
  const std::vector<int64_t> one{1};
  const auto draw = [&](int) {
    int64_t drawn = 0;
    EXPECT_EQ(spt_randn(one.data(), 1, &drawn), SPT_OK);
    double value = 0;
    EXPECT_EQ(spt_item(drawn, &value), SPT_OK);
    spt_release(drawn);
    return value;
  };
  ASSERT_EQ(spt_manual_seed(7), SPT_OK);
  std::vector<double> expected;
  expected.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    expected.push_back(draw(i));
  }
  ASSERT_EQ(spt_manual_seed(7), SPT_OK);
  std::vector<double> drawn(kThreads);
  on_threads(kThreads, [&](int which) { drawn[static_cast<size_t>(which)] = draw(which); });
  EXPECT_THAT(drawn, ::testing::UnorderedElementsAreArray(expected));
}

TEST_F(Threads, ShareTensors) {
  const std::vector<int64_t> shape{2, 2};
  int64_t ones = 0;
  ASSERT_EQ(spt_ones(shape.data(), 2, &ones), SPT_OK);
  std::vector<int64_t> created(kThreads);
  on_threads(kThreads, [&](int which) {
    int64_t sum = 0;
    EXPECT_EQ(spt_mul_scalar(ones, which, &sum), SPT_OK);
    for (int i = 0; i < 500; ++i) {
      int64_t next = 0;
      EXPECT_EQ(spt_add(sum, ones, &next), SPT_OK);
      EXPECT_EQ(spt_release(sum), SPT_OK);
      sum = next;
    }
    created[static_cast<size_t>(which)] = sum;
  });
  // One thread creates a tensor, another reads and releases it.
  on_threads(kThreads, [&](int which) {
    const int64_t other = created[static_cast<size_t>((which + 1) % kThreads)];
    double value = 0;
    int64_t mean = 0;
    EXPECT_EQ(spt_mean_all(other, &mean), SPT_OK);
    EXPECT_EQ(spt_item(mean, &value), SPT_OK);
    EXPECT_EQ(value, 500 + (which + 1) % kThreads);
    EXPECT_EQ(spt_release(mean), SPT_OK);
    EXPECT_EQ(spt_release(other), SPT_OK);
  });
  spt_release(ones);
}

TEST_F(Threads, OneOfManyReleasesAHandle) {
  const std::vector<int64_t> shape{2};
  for (int round = 0; round < 50; ++round) {
    int64_t shared = 0;
    ASSERT_EQ(spt_ones(shape.data(), 1, &shared), SPT_OK);
    std::vector<int32_t> statuses(kThreads);
    on_threads(kThreads, [&](int which) { statuses[static_cast<size_t>(which)] = spt_release(shared); });
    EXPECT_EQ(std::count(statuses.begin(), statuses.end(), SPT_OK), 1);
    EXPECT_EQ(std::count(statuses.begin(), statuses.end(), SPT_INVALID_HANDLE), kThreads - 1);
  }
}

}  // namespace
