#include "core_libtorch/small_blocks.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <array>
#include <bit>
#include <cstddef>

namespace simple_torch::core {
namespace {

constexpr size_t kSmallest = 64;  // also LibTorch's alignment of CPU memory
constexpr size_t kSizes = 4;      // 64, 128, 256 and 512 bytes
constexpr size_t kLargest = kSmallest << (kSizes - 1);
constexpr int kMostKept = 64;

struct Block {
  Block* next;
};

struct Kept {
  Block* first = nullptr;
  int count = 0;
};

enum class Thread : unsigned char { kNew, kKeeps, kEnding };

// Without constructor and destructor: blocks are freed also while a thread's other variables end.
constinit thread_local std::array<Kept, kSizes> kept;
constinit thread_local Thread thread = Thread::kNew;

// Gives the thread's blocks back as it ends; what is freed after that is not kept.
struct AtThreadEnd {
  AtThreadEnd() { thread = Thread::kKeeps; }
  ~AtThreadEnd() {
    thread = Thread::kEnding;
    for (Kept& blocks : kept) {
      while (Block* block = blocks.first) {
        blocks.first = block->next;
        c10::free_cpu(block);
      }
    }
  }
};

// Whether this thread keeps blocks. Out of the way of the calls that follow the first.
[[gnu::noinline]] bool begin_to_keep() {
  if (thread == Thread::kNew) {
    static thread_local const AtThreadEnd at_thread_end;
  }
  return thread == Thread::kKeeps;
}

constexpr size_t index_of(size_t bytes) { return std::bit_width((bytes - 1) / kSmallest); }
static_assert(index_of(1) == 0 && index_of(64) == 0 && index_of(65) == 1 && index_of(kLargest) == kSizes - 1);

template <size_t kIndex>
void give_back(void* memory) {
  c10::profiledCPUMemoryReporter().Delete(memory);
  Kept& blocks = kept[kIndex];
  if (blocks.count == kMostKept || (thread != Thread::kKeeps && !begin_to_keep())) {
    c10::free_cpu(memory);
    return;
  }
  blocks.first = new (memory) Block{blocks.first};
  ++blocks.count;
}

constexpr std::array<c10::DeleterFnPtr, kSizes> kGiveBack{&give_back<0>, &give_back<1>, &give_back<2>,
                                                          &give_back<3>};

class SmallBlocks final : public c10::Allocator {
 public:
  explicit SmallBlocks(c10::Allocator* large) : large_(large) {}

  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0 || bytes > kLargest) {
      return large_->allocate(bytes);
    }
    const size_t index = index_of(bytes);
    Kept& blocks = kept[index];
    void* memory = blocks.first;
    if (memory != nullptr) {
      blocks.first = blocks.first->next;
      --blocks.count;
    } else {
      memory = c10::alloc_cpu(kSmallest << index);
    }
    c10::profiledCPUMemoryReporter().New(memory, bytes);
    return {memory, memory, kGiveBack[index], c10::Device(c10::DeviceType::CPU)};
  }

  // LibTorch's own frees ours, too: a block is memory of c10::alloc_cpu, it only is not kept then.
  c10::DeleterFnPtr raw_deleter() const override { return large_->raw_deleter(); }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

 private:
  c10::Allocator* large_;
};

}  // namespace

void use_small_blocks() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  c10::Allocator* const standard = c10::GetDefaultCPUAllocator();
  if (c10::GetCPUAllocator() == standard) {
    c10::SetCPUAllocator(new SmallBlocks(standard));  // LibTorch's from here on
  }
#endif
}

}  // namespace simple_torch::core
