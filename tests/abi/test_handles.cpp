// Handles: validation, counts, scopes, tracing and use by several threads.
#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "abi/handles/bits.h"
#include "tests/abi/capi_test.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Handles : public CApiTest {};

TEST_F(Handles, ArePositiveAndDifferent) {
  const Handle a = zeros({2});
  const Handle b = zeros({2});
  EXPECT_GT(a, 0);
  EXPECT_GT(b, 0);
  EXPECT_NE(static_cast<int64_t>(a), static_cast<int64_t>(b));
}

TEST_F(Handles, ZeroAndNegativeNumbersAreRejected) {
  int64_t out = kUntouched;
  for (const int64_t bad : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    EXPECT_EQ(spt_neg(bad, &out), SPT_INVALID_HANDLE);
  }
  EXPECT_EQ(out, kUntouched);
}

TEST_F(Handles, UnknownNumbersAreRejected) {
  int64_t out = kUntouched;
  for (const int64_t bad : {int64_t{1}, int64_t{12345}, INT64_MAX, (int64_t{1} << 57) | 99}) {
    EXPECT_EQ(spt_neg(bad, &out), SPT_INVALID_HANDLE) << bad;
    EXPECT_EQ(spt_release(bad), SPT_INVALID_HANDLE) << bad;
  }
  EXPECT_THAT(spt_last_error_message(), HasSubstr("unknown handle"));
}

TEST_F(Handles, AReleasedHandleStaysInvalidWhenItsSlotIsReused) {
  const int64_t old = zeros({2}).release();
  ASSERT_EQ(spt_release(old), SPT_OK);
  const Handle next = ones({2});
  int64_t out = kUntouched;
  EXPECT_EQ(spt_neg(old, &out), SPT_INVALID_HANDLE);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("has been released"));
  EXPECT_EQ(spt_release(old), SPT_INVALID_HANDLE);
  EXPECT_THAT(values(next), ElementsAre(1, 1));
}

TEST_F(Handles, AHandleOfAnotherKindIsRejectedByName) {
  const Handle weight = parameter({1}, {1});
  const int64_t params[] = {weight};
  const Handle optimizer = create(spt_optim_sgd_new, params, int64_t{1}, 0.1, 0.0, 0.0, 0.0, false);
  int64_t out = kUntouched;
  EXPECT_EQ(spt_neg(optimizer, &out), SPT_INVALID_HANDLE);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("expected a handle of kind tensor, got optimizer"));
  EXPECT_EQ(spt_optim_step(weight), SPT_INVALID_HANDLE);
}

TEST_F(Handles, AreCountedByKind) {
  int64_t before = 0;
  ASSERT_EQ(spt_peak_handles(SPT_HANDLE_TENSOR, &before), SPT_OK);
  std::vector<Handle> many;
  many.reserve(10000);
  many.reserve(10000);
  for (int64_t i = 0; i < before + 5; ++i) {
    many.push_back(zeros({1}));
  }
  int64_t live_tensors = 0;
  int64_t peak = 0;
  EXPECT_EQ(spt_live_handles(SPT_HANDLE_TENSOR, &live_tensors), SPT_OK);
  many.clear();
  EXPECT_EQ(spt_peak_handles(SPT_HANDLE_TENSOR, &peak), SPT_OK);
  EXPECT_EQ(live_tensors, before + 5);
  EXPECT_EQ(peak, before + 5);
  EXPECT_EQ(spt_live_handles(99, &peak), SPT_INVALID_ARGUMENT);
}

TEST_F(Handles, AreCountedWhicheverThreadReleasesThem) {
  int64_t before = 0, live = 0, peak = 0;
  ASSERT_EQ(spt_live_handles(SPT_HANDLE_TENSOR, &before), SPT_OK);
  for (const size_t count : {3, 40, 1000}) {  // below and above the size of a thread's pending count
    std::vector<Handle> created(count);
    std::thread([&] {
      for (Handle& each : created) {
        each = zeros({1});
      }
    }).join();
    EXPECT_EQ(spt_live_handles(SPT_HANDLE_TENSOR, &live), SPT_OK);
    EXPECT_EQ(live, before + static_cast<int64_t>(count));
    std::thread([&] { created.resize(1); }).join();
    EXPECT_EQ(spt_live_handles(SPT_HANDLE_TENSOR, &live), SPT_OK);
    EXPECT_EQ(live, before + 1);
    created.clear();
    EXPECT_EQ(spt_live_handles(SPT_HANDLE_TENSOR, &live), SPT_OK);
    EXPECT_EQ(live, before);
  }
  EXPECT_EQ(spt_peak_handles(SPT_HANDLE_TENSOR, &peak), SPT_OK);
  EXPECT_GE(peak, before + 1000);
}

TEST_F(Handles, DiscardingANonTensorDoesNothing) {
  const int64_t handle = zeros({1}).release();
  bool ended = false;
  EXPECT_EQ(spt_discard_tensor(handle, &ended), SPT_OK);
  EXPECT_TRUE(ended);
  for (const int64_t none : {handle, int64_t{0}, int64_t{-5}}) {
    EXPECT_EQ(spt_discard_tensor(none, &ended), SPT_OK);
    EXPECT_FALSE(ended);
  }
}

TEST_F(Handles, ReportWhetherTheyAreTensors) {
  bool is = false;
  const int64_t handle = zeros({1}).release();
  EXPECT_EQ(spt_is_tensor(handle, &is), SPT_OK);
  EXPECT_TRUE(is);
  spt_release(handle);
  EXPECT_EQ(spt_is_tensor(handle, &is), SPT_OK);
  EXPECT_FALSE(is);
}

TEST_F(Handles, AreReleasedWithTheirScopeUnlessKept) {
  ASSERT_EQ(spt_scope_begin(), SPT_OK);
  int64_t dies = ones({1}).release(), stays = ones({2}).release(), gone = ones({3}).release();
  ASSERT_EQ(spt_release(gone), SPT_OK);
  ASSERT_EQ(spt_scope_keep(stays), SPT_OK) << spt_last_error_message();
  int64_t ended = kUntouched;
  ASSERT_EQ(spt_scope_end(&ended), SPT_OK);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(spt_release(dies), SPT_INVALID_HANDLE);
  EXPECT_THAT(shape(Handle(stays)), ElementsAre(2));
}

TEST_F(Handles, KeptHandlesMoveToTheEnclosingScope) {
  ASSERT_EQ(spt_scope_begin(), SPT_OK);
  ASSERT_EQ(spt_scope_begin(), SPT_OK);
  const int64_t inner = ones({1}).release();
  ASSERT_EQ(spt_scope_keep(inner), SPT_OK);
  int64_t ended = kUntouched;
  ASSERT_EQ(spt_scope_end(&ended), SPT_OK);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(live(), 1);
  ASSERT_EQ(spt_scope_end(&ended), SPT_OK);
  EXPECT_EQ(ended, 1);
}

TEST_F(Handles, ScopesBelongToAThread) {
  ASSERT_EQ(spt_scope_begin(), SPT_OK);
  int64_t of_other = 0;
  std::thread([&] { of_other = ones({1}).release(); }).join();
  EXPECT_EQ(spt_scope_keep(of_other), SPT_INVALID_ARGUMENT);
  int64_t ended = kUntouched;
  ASSERT_EQ(spt_scope_end(&ended), SPT_OK);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(spt_release(of_other), SPT_OK);
}

TEST_F(Handles, EndingWithoutAnOpenScopeIsRejected) {
  int64_t ended = kUntouched;
  EXPECT_EQ(spt_scope_end(&ended), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("no scope is open on this thread"));
  EXPECT_EQ(spt_scope_keep(1), SPT_INVALID_ARGUMENT);
  ASSERT_EQ(spt_scope_begin(), SPT_OK);
  EXPECT_EQ(spt_scope_keep(1), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_scope_end(nullptr), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(ended, kUntouched);
  EXPECT_EQ(spt_scope_end(&ended), SPT_OK);
}

std::string report() {
  char* text = nullptr;
  EXPECT_EQ(spt_live_report(&text), SPT_OK);
  return take_string(text);
}

char* here() { return strdup("train.c:7"); }

TEST_F(Handles, ReportTheirOriginWhenTraced) {
  EXPECT_EQ(report(), "no live handles");
  const Handle before = zeros({2});
  EXPECT_EQ(report(), "1 live handle\n  1 tensor of 8 bytes, created before tracing started");
  ASSERT_EQ(spt_trace_handles(true, here), SPT_OK);
  const Handle one = ones({4}), two = ones({4});
  const Handle view = create(spt_detach, static_cast<int64_t>(one));
  ASSERT_EQ(spt_release(zeros({1}).release()), SPT_OK);
  EXPECT_EQ(report(),
            "4 live handles\n"
            "  2 tensors of 32 bytes, created by spt_ones at train.c:7\n"
            "  1 tensor of 16 bytes, created by spt_detach at train.c:7\n"
            "  1 tensor of 8 bytes, created before tracing started");
  ASSERT_EQ(spt_trace_handles(true, nullptr), SPT_OK);
  const Handle nowhere = create(spt_generator_new, "cpu");
  EXPECT_THAT(report(), HasSubstr("1 generator, created by spt_generator_new"));
  EXPECT_THAT(report(), HasSubstr("2 tensors of 32 bytes, created by spt_ones at train.c:7"))
      << "recorded origins stay";
  ASSERT_EQ(spt_trace_handles(false, nullptr), SPT_OK);
  EXPECT_THAT(report(), HasSubstr("4 tensors of 40 bytes, created before tracing started"));
}

TEST_F(Handles, TracesOfReleasedHandlesArePruned) {
  ASSERT_EQ(spt_trace_handles(true, nullptr), SPT_OK);
  for (int i = 0; i < 20000; ++i) {
    zeros({1});
  }
  const Handle last = zeros({1});
  EXPECT_THAT(report(), HasSubstr("1 tensor of 4 bytes, created by spt_zeros"));
  ASSERT_EQ(spt_trace_handles(false, nullptr), SPT_OK);
}

TEST_F(Handles, AreTracedAndReportedWhileSixteenThreadsCreateThem) {
  std::atomic<bool> going{true};
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      while (going) {
        EXPECT_EQ(spt_scope_begin(), SPT_OK);
        for (int i = 0; i < 20; ++i) {
          int64_t made_here = 0;
          const int64_t dims[] = {2};
          EXPECT_EQ(spt_zeros(dims, 1, &made_here), SPT_OK);
        }
        int64_t ended = 0;
        EXPECT_EQ(spt_scope_end(&ended), SPT_OK);
        EXPECT_EQ(ended, 20);
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(spt_trace_handles(i % 3 != 2, i % 2 == 0 ? here : nullptr), SPT_OK);
    EXPECT_THAT(report(), HasSubstr("live"));
    int64_t bytes = 0;
    EXPECT_EQ(spt_live_bytes("cpu", &bytes), SPT_OK);
  }
  going = false;
  for (std::thread& thread : threads) {
    thread.join();
  }
  ASSERT_EQ(spt_trace_handles(false, nullptr), SPT_OK);
}

TEST_F(Handles, CountTheBytesOfEachStorageOnce) {
  const auto bytes = [](const char* device) {
    int64_t out = kUntouched;
    EXPECT_EQ(spt_live_bytes(device, &out), SPT_OK) << spt_last_error_message();
    return out;
  };
  EXPECT_EQ(bytes("cpu"), 0);
  const Handle a = zeros({10});
  const Handle view = create(spt_detach, static_cast<int64_t>(a));
  EXPECT_EQ(bytes("cpu"), 40);
  int64_t out = kUntouched;
  EXPECT_EQ(spt_live_bytes("tpu", &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_live_bytes("cuda:99", &out), SPT_UNAVAILABLE);
  EXPECT_EQ(spt_live_bytes(nullptr, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_live_report(nullptr), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
}

TEST_F(Handles, FillMoreThanOneChunk) {
  std::vector<Handle> many;
  many.reserve(10000);
  const Handle one = ones({1});
  for (int i = 0; i < 10000; ++i) {
    many.push_back(create(spt_detach, static_cast<int64_t>(one)));
  }
  EXPECT_THAT(values(many.back()), ElementsAre(1));
  EXPECT_EQ(live(), 10001);
}

// Each thread creates, uses and releases handles of its own and reads a shared one; all threads release the
// same contested handles.
TEST_F(Handles, SlotsCachedByAThreadAreReusedAfterItsExit) {
  const auto place_of = [](int64_t handle) {
    return static_cast<uint64_t>(handle) & simple_torch::abi::handle_bits::kSlotMask;
  };
  std::set<uint64_t> kept;
  std::thread([&] {
    std::vector<Handle> created;
    for (int i = 0; i < 40; ++i) {
      created.push_back(zeros({1}));
      kept.insert(place_of(created.back()));
    }
  }).join();
  ASSERT_EQ(kept.size(), 40U);
  std::vector<Handle> created;
  for (int i = 0; i < 10000 && !kept.empty(); ++i) {
    created.push_back(zeros({1}));
    kept.erase(place_of(created.back()));
  }
  EXPECT_TRUE(kept.empty()) << kept.size() << " of 40 slots are lost";
}

TEST_F(Handles, AreSharedBySixteenThreads) {
  constexpr int kThreads = 16;
  constexpr int kRounds = 500;
  const Handle shared = ones({4});
  std::vector<int64_t> raced;
  raced.reserve(kRounds);
  for (int i = 0; i < kRounds; ++i) {
    raced.push_back(create(spt_detach, static_cast<int64_t>(shared)).release());
  }
  std::atomic<int> ended{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (const int64_t contested : raced) {
        int64_t sum = 0;
        if (spt_add(shared, shared, &sum) != SPT_OK || values(sum) != std::vector<double>{2, 2, 2, 2}) {
          ++wrong;
        }
        int64_t view = 0;
        const int32_t status = spt_detach(contested, &view);
        if (status == SPT_OK) {
          spt_release(view);
        } else if (status != SPT_INVALID_HANDLE) {
          ++wrong;
        }
        ended += spt_release(contested) == SPT_OK ? 1 : 0;
        wrong += spt_release(sum) == SPT_OK ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(ended, kRounds) << "each contested handle is released exactly once";
  EXPECT_EQ(wrong, 0);
}

}  // namespace
