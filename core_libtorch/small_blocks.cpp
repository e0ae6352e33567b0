#include "core_libtorch/small_blocks.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <array>
#include <bit>
#include <cstddef>

namespace simple_torch::core {
namespace {

constexpr size_t kMinBytes = 64;  // also LibTorch's alignment of CPU memory
constexpr size_t kSizes = 4;      // 64, 128, 256 and 512 bytes
constexpr size_t kMaxBytes = kMinBytes << (kSizes - 1);
constexpr int kMaxCached = 64;

struct Block {
  Block* next;
};

struct FreeList {
  Block* first = nullptr;
  int count = 0;
};

enum class CacheState : unsigned char { kUnused, kActive, kThreadExiting };

// Trivially destructible: blocks are freed even while the thread's other variables are destroyed.
constinit thread_local std::array<FreeList, kSizes> free_lists;
constinit thread_local CacheState cache_state = CacheState::kUnused;

// Frees the thread's cached blocks at its exit. Blocks that are freed later are not cached.
struct ThreadExitGuard {
  ThreadExitGuard() { cache_state = CacheState::kActive; }
  ~ThreadExitGuard() {
    cache_state = CacheState::kThreadExiting;
    for (FreeList& blocks : free_lists) {
      while (Block* block = blocks.first) {
        blocks.first = block->next;
        c10::free_cpu(block);
      }
    }
  }
};

// Whether this thread can cache blocks. Not inlined, because only the first call of a thread needs it.
[[gnu::noinline]] bool activate_cache() {
  if (cache_state == CacheState::kUnused) {
    static thread_local const ThreadExitGuard exit_guard;
  }
  return cache_state == CacheState::kActive;
}

constexpr size_t index_of(size_t bytes) { return std::bit_width((bytes - 1) / kMinBytes); }
static_assert(index_of(1) == 0 && index_of(64) == 0 && index_of(65) == 1 &&
              index_of(kMaxBytes) == kSizes - 1);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCaches = false;  // sanitizers must see each free
#else
constexpr bool kCaches = true;
#endif

void* allocate_block(size_t index) {
  FreeList& blocks = free_lists[index];
  Block* const block = blocks.first;
  if (block == nullptr) {
    return c10::alloc_cpu(kMinBytes << index);
  }
  blocks.first = block->next;
  --blocks.count;
  return block;
}

void free_block(void* memory, size_t index) {
  FreeList& blocks = free_lists[index];
  if (!kCaches || blocks.count == kMaxCached || (cache_state != CacheState::kActive && !activate_cache())) {
    c10::free_cpu(memory);
    return;
  }
  blocks.first = new (memory) Block{blocks.first};
  ++blocks.count;
}

template <size_t kIndex>
void delete_tensor_memory(void* memory) {
  c10::profiledCPUMemoryReporter().Delete(memory);
  free_block(memory, kIndex);
}

constexpr std::array<c10::DeleterFnPtr, kSizes> kTensorDeleters{
    &delete_tensor_memory<0>, &delete_tensor_memory<1>, &delete_tensor_memory<2>, &delete_tensor_memory<3>};

class SmallBlocks final : public c10::Allocator {
 public:
  explicit SmallBlocks(c10::Allocator* large) : large_(large) {}

  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0 || bytes > kMaxBytes) {
      return large_->allocate(bytes);
    }
    const size_t index = index_of(bytes);
    void* const memory = allocate_block(index);
    c10::profiledCPUMemoryReporter().New(memory, bytes);
    return {memory, memory, kTensorDeleters[index], c10::Device(c10::DeviceType::CPU)};
  }

  // LibTorch's own deleter frees our blocks, too: a block is memory of c10::alloc_cpu.
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
  if (kCaches && c10::GetCPUAllocator() == standard) {
    static auto& blocks = *new SmallBlocks(standard);  // never freed: used while the process exits
    c10::SetCPUAllocator(&blocks);
  }
}

void* allocate_small_block(size_t bytes) { return allocate_block(index_of(bytes)); }

void free_small_block(void* memory, size_t bytes) noexcept { free_block(memory, index_of(bytes)); }

}  // namespace simple_torch::core
