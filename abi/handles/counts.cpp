// A number for each thread that makes or ends handles, and one for all, which they tell from time to time.
#include "abi/handles/counts.h"

#include <array>
#include <atomic>
#include <new>

namespace simple_torch::abi::handle_counts {
namespace {

constexpr int64_t kMostUntold = 16;

using Numbers = std::array<std::atomic<int64_t>, kHandleKinds>;

/// What one thread made, less what it ended, since it told so. Others read it, none but its thread writes it;
/// it is never freed: when its thread has ended, the next one goes on with it.
struct Own {
  Numbers untold{};
  std::atomic<bool> is_taken{true};
  Own* next = nullptr;
};

std::atomic<Own*> all{nullptr};
constinit Numbers told{};
constinit Numbers peaks{};

// Of the initial-exec model, which needs no call: this library is never unloaded.
[[gnu::tls_model("initial-exec")]] thread_local Own* own = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local bool is_ended = false;

struct AtThreadEnd {
  ~AtThreadEnd() {
    is_ended = true;
    own->is_taken.store(false, std::memory_order_release);
    own = nullptr;
  }
};

Own* one_left_over() noexcept {
  for (Own* each = all.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    bool is_taken = false;
    if (each->is_taken.compare_exchange_strong(is_taken, true, std::memory_order_acquire)) {
      return each;
    }
  }
  return nullptr;
}

/// The calling thread's; NULL at its end, and without memory.
Own* begin() noexcept {
  if (is_ended) {
    return nullptr;
  }
  own = one_left_over();
  if (own == nullptr) {
    own = new (std::nothrow) Own;
    if (own == nullptr) {
      return nullptr;
    }
    own->next = all.load(std::memory_order_relaxed);
    while (!all.compare_exchange_weak(own->next, own, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  static thread_local const AtThreadEnd at_thread_end;
  return own;
}

/// Adds to the calling thread's number; how many are live now, as far as it knows.
int64_t add(size_t kind, int64_t change) noexcept {
  Own* mine = own != nullptr ? own : begin();
  if (mine == nullptr) [[unlikely]] {
    return told[kind].fetch_add(change, std::memory_order_relaxed) + change;
  }
  int64_t untold = mine->untold[kind].load(std::memory_order_relaxed) + change;
  if (untold >= kMostUntold || untold <= -kMostUntold) [[unlikely]] {
    told[kind].fetch_add(untold, std::memory_order_relaxed);
    untold = 0;
  }
  mine->untold[kind].store(untold, std::memory_order_relaxed);
  return told[kind].load(std::memory_order_relaxed) + untold;
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
  int64_t count = told[number].load(std::memory_order_relaxed);
  for (const Own* each = all.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    count += each->untold[number].load(std::memory_order_relaxed);
  }
  return count;
}

int64_t peak(HandleKind kind) noexcept {
  return peaks[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
}

}  // namespace simple_torch::abi::handle_counts
