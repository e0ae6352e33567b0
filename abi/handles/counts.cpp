// Counters for each thread, which are added to the shared totals from time to time.
#include "abi/handles/counts.h"

#include <array>
#include <atomic>
#include <new>

namespace simple_torch::abi::handle_counts {
namespace {

constexpr int64_t kMaxPending = 16;

using Numbers = std::array<std::atomic<int64_t>, kHandleKinds>;

/// One thread's changes since its last addition to the totals. Only the owning thread writes them; other
/// threads read them. Never freed: after its thread has ended, another thread reuses it.
struct ThreadCounters {
  Numbers pending{};
  std::atomic<bool> is_taken{true};
  ThreadCounters* next = nullptr;
};

std::atomic<ThreadCounters*> all{nullptr};
constinit Numbers totals{};
constinit Numbers peaks{};

// The initial-exec model needs no call. It is safe because this library is never unloaded.
[[gnu::tls_model("initial-exec")]] thread_local ThreadCounters* own = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local bool is_ended = false;

struct ReleaseAtThreadExit {
  ~ReleaseAtThreadExit() {
    is_ended = true;
    own->is_taken.store(false, std::memory_order_release);
    own = nullptr;
  }
};

ThreadCounters* reuse_counters() noexcept {
  for (ThreadCounters* each = all.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    bool is_taken = false;
    if (each->is_taken.compare_exchange_strong(is_taken, true, std::memory_order_acquire)) {
      return each;
    }
  }
  return nullptr;
}

/// The counters of the calling thread; NULL while the thread exits and if memory is exhausted.
ThreadCounters* acquire_counters() noexcept {
  if (is_ended) {
    return nullptr;
  }
  own = reuse_counters();
  if (own == nullptr) {
    own = new (std::nothrow) ThreadCounters;
    if (own == nullptr) {
      return nullptr;
    }
    own->next = all.load(std::memory_order_relaxed);
    while (!all.compare_exchange_weak(own->next, own, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  static thread_local const ReleaseAtThreadExit release_at_thread_exit;
  return own;
}

/// Adds to the calling thread's counter. Returns the number of live handles without the pending changes of
/// other threads.
int64_t add(size_t kind, int64_t change) noexcept {
  ThreadCounters* counters = own != nullptr ? own : acquire_counters();
  if (counters == nullptr) [[unlikely]] {
    return totals[kind].fetch_add(change, std::memory_order_relaxed) + change;
  }
  int64_t pending = counters->pending[kind].load(std::memory_order_relaxed) + change;
  if (pending >= kMaxPending || pending <= -kMaxPending) [[unlikely]] {
    totals[kind].fetch_add(pending, std::memory_order_relaxed);
    pending = 0;
  }
  counters->pending[kind].store(pending, std::memory_order_relaxed);
  return totals[kind].load(std::memory_order_relaxed) + pending;
}

}  // namespace

void increment(HandleKind kind) noexcept {
  const auto number = static_cast<size_t>(kind);
  const int64_t now = add(number, 1);
  int64_t peak = peaks[number].load(std::memory_order_relaxed);
  while (peak < now && !peaks[number].compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void decrement(HandleKind kind) noexcept { add(static_cast<size_t>(kind), -1); }

int64_t live(HandleKind kind) noexcept {
  const auto number = static_cast<size_t>(kind);
  int64_t count = totals[number].load(std::memory_order_relaxed);
  for (const ThreadCounters* each = all.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    count += each->pending[number].load(std::memory_order_relaxed);
  }
  return count;
}

int64_t peak(HandleKind kind) noexcept {
  return peaks[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
}

}  // namespace simple_torch::abi::handle_counts
