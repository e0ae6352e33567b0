// The bit layout of a handle and of a slot's state, and atomic updates of the state.
#pragma once

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

#include <atomic>
#include <cstdint>

namespace simple_torch::abi::handle_bits {

// A handle:      0 | kind:5 | generation:29 | slot:28, so it is positive; kind is never 0.
// A slot's state: generation:29 | kind:5 | live:1 | borrowers:24 (from bit 0).
inline constexpr int kSlotBits = 28;
inline constexpr int kGenerationBits = 29;
inline constexpr uint64_t kSlotMask = (1ULL << kSlotBits) - 1;
inline constexpr uint64_t kGenerationMask = (1ULL << kGenerationBits) - 1;
inline constexpr uint64_t kBorrowers = (1ULL << 24) - 1;
inline constexpr uint64_t kLive = 1ULL << 24;
inline constexpr int kKindShift = 25;
inline constexpr int kGenerationShift = 30;
inline constexpr uint64_t kKindMask = 31;

// Whether the process has one thread. Then a plain load and store replace a locked instruction, which is
// most of the cost of a handle.
inline bool is_single_threaded() noexcept {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

/// compare_exchange_weak; `expected` must be the value that the caller has just loaded.
template <class T>
bool replace(std::atomic<T>& place, T& expected, T desired, std::memory_order success,
             std::memory_order failure) {
  if (is_single_threaded()) {
    place.store(desired, std::memory_order_relaxed);
    return true;
  }
  return place.compare_exchange_weak(expected, desired, success, failure);
}

/// fetch_add.
template <class T>
T add(std::atomic<T>& place, T change, std::memory_order order) {
  if (is_single_threaded()) {
    const T before = place.load(std::memory_order_relaxed);
    place.store(before + change, std::memory_order_relaxed);
    return before;
  }
  return place.fetch_add(change, order);
}

constexpr uint64_t generation_of_handle(int64_t handle) {
  return (static_cast<uint64_t>(handle) >> kSlotBits) & kGenerationMask;
}
constexpr uint64_t kind_of_handle(int64_t handle) {
  return static_cast<uint64_t>(handle) >> (kSlotBits + kGenerationBits);
}

/// Whether a slot in this state is live and has the handle's generation and kind.
constexpr bool matches_generation(int64_t handle, uint64_t state) {
  return (state & kLive) != 0 && (state >> kGenerationShift) == generation_of_handle(handle) &&
         ((state >> kKindShift) & kKindMask) == kind_of_handle(handle);
}

/// The handle for a slot in this state.
constexpr int64_t handle_of(uint64_t state, uint32_t index) {
  const uint64_t kind = (state >> kKindShift) & kKindMask;
  const uint64_t generation = state >> kGenerationShift;
  return static_cast<int64_t>((kind << (kSlotBits + kGenerationBits)) | (generation << kSlotBits) | index);
}

}  // namespace simple_torch::abi::handle_bits
