// The allocator of small tensors: alignment, per-thread caches and profiler reports.
#include <c10/core/CPUAllocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core_libtorch/small_blocks.h"

namespace {

using simple_torch::core::use_small_blocks;

class SmallBlocks : public ::testing::Test {
 protected:
  void SetUp() override {
    c10::SetCPUAllocator(c10::GetDefaultCPUAllocator());
    use_small_blocks();
    allocator = c10::GetCPUAllocator();
    ASSERT_NE(allocator, c10::GetDefaultCPUAllocator());
  }

  c10::Allocator* allocator = nullptr;
};

struct RecordingProfiler final : c10::MemoryReportingInfoBase {
  std::vector<int64_t> sizes;  // negative: freed
  void reportMemoryUsage(void* /*memory*/, int64_t size, size_t /*allocated*/, size_t /*reserved*/,
                         c10::Device /*device*/) override {
    sizes.push_back(size);
  }
  bool memoryProfilingEnabled() const override { return true; }
};

TEST_F(SmallBlocks, AreAlignedAndDisjoint) {
  std::vector<c10::DataPtr> pieces;
  for (size_t bytes = 1; bytes <= 600; ++bytes) {
    pieces.push_back(allocator->allocate(bytes));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(pieces.back().get()) % 64, 0U) << bytes;
    std::memset(pieces.back().get(), static_cast<int>(bytes % 251), bytes);
  }
  for (size_t bytes = 1; bytes <= 600; ++bytes) {
    const auto* memory = static_cast<const unsigned char*>(pieces[bytes - 1].get());
    for (size_t i = 0; i < bytes; ++i) {
      ASSERT_EQ(memory[i], bytes % 251) << bytes;
    }
  }
}

TEST_F(SmallBlocks, AreReusedForTheNextTensorOfTheSize) {
  c10::DataPtr first = allocator->allocate(16);
  const void* const memory = first.get();
  first.clear();
  const c10::DataPtr larger = allocator->allocate(65);
  EXPECT_NE(larger.get(), memory);
  const c10::DataPtr next = allocator->allocate(60);
  EXPECT_EQ(next.get(), memory);
}

TEST_F(SmallBlocks, AreReleasedWhenTheirThreadEnds) {
  const auto one_thread = [&] {
    std::thread([&] {
      std::vector<c10::DataPtr> pieces;
      for (int i = 0; i < 64; ++i) {
        pieces.push_back(allocator->allocate(512));
      }
    }).join();
  };
  one_thread();
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 200; ++i) {
    one_thread();  // each caches 32 KB while it lives
  }
  EXPECT_LT(mallinfo2().uordblks, before + 64 * 1024);
}

TEST_F(SmallBlocks, MayBeFreedOnAnotherThreadAndAfterThreadLocals) {
  struct Late {
    c10::DataPtr memory;
  };
  for (int round = 0; round < 100; ++round) {
    c10::DataPtr handed_over = allocator->allocate(100);
    std::thread([&, mine = std::move(handed_over)]() mutable {
      static thread_local Late
          late;  // destroyed after the thread's block cache, because it was constructed earlier
      mine.clear();
      late.memory = allocator->allocate(200);
    }).join();
  }
  const size_t before = mallinfo2().uordblks;
  for (int round = 0; round < 200; ++round) {
    std::thread([&, mine = allocator->allocate(500)]() mutable { mine.clear(); }).join();
  }
  EXPECT_LT(mallinfo2().uordblks, before + 64 * 1024);
}

TEST_F(SmallBlocks, AreCachedUpToALimit) {
  const size_t before = mallinfo2().uordblks;
  {
    std::vector<c10::DataPtr> pieces;
    for (int i = 0; i < 10'000; ++i) {
      pieces.push_back(allocator->allocate(512));
    }
  }
  EXPECT_LT(mallinfo2().uordblks, before + 64 * 1024);  // 64 blocks of 512 bytes; 10,000 are 5 MB
}

TEST_F(SmallBlocks, SupportRawAllocationAndDeletion) {  // as oneDNN does
  const auto profiler = std::make_shared<RecordingProfiler>();
  {
    const c10::DebugInfoGuard listening(c10::DebugInfoKind::PROFILER_STATE, profiler);
    for (const size_t bytes : {16, 512, 4096}) {
      void* const memory = allocator->raw_allocate(bytes);
      std::memset(memory, 1, bytes);
      allocator->raw_deallocate(memory);
    }
  }
  EXPECT_EQ(profiler->sizes, (std::vector<int64_t>{16, -16, 512, -512, 4096, -4096}));
}

TEST_F(SmallBlocks, ReportToTheProfiler) {
  const auto profiler = std::make_shared<RecordingProfiler>();
  {
    const c10::DebugInfoGuard listening(c10::DebugInfoKind::PROFILER_STATE, profiler);
    allocator->allocate(20).clear();
    allocator->allocate(20).clear();  // from the cached block
  }
  EXPECT_EQ(profiler->sizes, (std::vector<int64_t>{20, -20, 20, -20}));
}

TEST_F(SmallBlocks, KeepAnInstalledAllocator) {
  struct OtherAllocator final : c10::Allocator {
    c10::DataPtr allocate(size_t bytes) override { return c10::GetDefaultCPUAllocator()->allocate(bytes); }
    void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }
  } anothers;
  c10::SetCPUAllocator(&anothers);
  use_small_blocks();
  EXPECT_EQ(c10::GetCPUAllocator(), &anothers);
}

}  // namespace
