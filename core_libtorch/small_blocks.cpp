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

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeeps = false;  // each piece is to be seen to end
#else
constexpr bool kKeeps = true;
#endif

void* take(size_t index) {
  Kept& blocks = kept[index];
  Block* const block = blocks.first;
  if (block == nullptr) {
    return c10::alloc_cpu(kSmallest << index);
  }
  blocks.first = block->next;
  --blocks.count;
  return block;
}

void give(void* memory, size_t index) {
  Kept& blocks = kept[index];
  if (!kKeeps || blocks.count == kMostKept || (thread != Thread::kKeeps && !begin_to_keep())) {
    c10::free_cpu(memory);
    return;
  }
  blocks.first = new (memory) Block{blocks.first};
  ++blocks.count;
}

template <size_t kIndex>
void end_of_tensor(void* memory) {
  c10::profiledCPUMemoryReporter().Delete(memory);
  give(memory, kIndex);
}

constexpr std::array<c10::DeleterFnPtr, kSizes> kEndsOfTensors{&end_of_tensor<0>, &end_of_tensor<1>,
                                                               &end_of_tensor<2>, &end_of_tensor<3>};

class SmallBlocks final : public c10::Allocator {
 public:
  explicit SmallBlocks(c10::Allocator* large) : large_(large) {}

  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0 || bytes > kLargest) {
      return large_->allocate(bytes);
    }
    const size_t index = index_of(bytes);
    void* const memory = take(index);
    c10::profiledCPUMemoryReporter().New(memory, bytes);
    return {memory, memory, kEndsOfTensors[index], c10::Device(c10::DeviceType::CPU)};
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
  c10::Allocator* const standard = c10::GetDefaultCPUAllocator();
  if (kKeeps && c10::GetCPUAllocator() == standard) {
    static auto& blocks = *new SmallBlocks(standard);  // never freed: used while the process exits
    c10::SetCPUAllocator(&blocks);
  }
}

void* take_small_block(size_t bytes) { return take(index_of(bytes)); }

void give_small_block(void* memory, size_t bytes) noexcept { give(memory, index_of(bytes)); }

}  // namespace simple_torch::core
