// The table behind every int64 handle: slot + generation + kind, shared by all threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "abi/handles/bits.h"
#include "abi/handles/counts.h"

namespace simple_torch::abi {

/// Says which kind of handle holds a T: specialise with `static constexpr HandleKind value`.
/// A T is one pointer wide, is moved without throwing, and may be destroyed on any thread; where its own
/// destructor must not run just anywhere, `static void release(T&) noexcept` may empty it first.
template <class T>
struct HandleKindOf;

/// Handles to values of several types.
///
/// Invariant of a slot: its `state` packs generation, kind, live bit and the number of borrowers. A value
/// dies when the slot is no longer live and nobody borrows it; whoever brings that about destroys it, and
/// holds no lock then. A slot's generation grows with each life, so an old handle never fits again; a slot
/// that used up its generations is not used again. Generation 0 is that of lasting handles.
class HandleTable {
  struct Slot;

 public:
  /// A value that stays alive while this does, even if its handle is released meanwhile.
  template <class T>
  class Borrowed {
   public:
    Borrowed(Borrowed&& other) noexcept
        : table_(other.table_), slot_(std::exchange(other.slot_, nullptr)), value_(other.value_) {}
    Borrowed& operator=(Borrowed&&) = delete;
    ~Borrowed() {
      if (slot_ != nullptr) {
        table_->release_borrow(*slot_);
      }
    }
    const T& operator*() const noexcept { return *value_; }
    const T* operator->() const noexcept { return value_; }
    T& mutable_value() const noexcept { return *value_; }

   private:
    friend class HandleTable;
    Borrowed(HandleTable* table, Slot* slot, T* value) : table_(table), slot_(slot), value_(value) {}
    HandleTable* table_;
    Slot* slot_;
    T* value_;
  };

  constexpr HandleTable() = default;
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  /// A new handle, never 0 or negative. Throws Error(kOutOfMemory) when every slot is taken.
  template <class T>
  int64_t insert(T value) {
    Slot& slot = slot_with(std::move(value));
    const int64_t handle = publish(slot, HandleKindOf<T>::value);
    if (watchers_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      tell_watchers(handle);
    }
    return handle;
  }

  /// A handle of what lives as long as the process. It is never counted, and who releases or keeps it changes
  /// nothing; it cannot be taken.
  template <class T>
  int64_t insert_immortal(T value) {
    return publish_lasting(slot_with(std::move(value)), HandleKindOf<T>::value);
  }

  /// Of a live handle.
  static bool is_immortal(int64_t handle) noexcept { return handle_bits::generation_of_handle(handle) == 0; }

  /// Looks up without a lock. Throws Error(kInvalidHandle), which says what is wrong with the handle.
  template <class T>
  Borrowed<T> get(int64_t handle) {
    Slot& slot = borrow(handle, HandleKindOf<T>::value);
    return Borrowed<T>(this, &slot, std::launder(reinterpret_cast<T*>(slot.payload)));
  }

  /// What `T::glance()` gives, without a borrower, so that the value may end at any time: for what is kept
  /// alive by other means. NULL for a handle that is not live or of another kind.
  template <class T>
  auto peek(int64_t handle) noexcept -> decltype(std::declval<const T&>().glance()) {
    if (!holds(handle, HandleKindOf<T>::value)) {
      return nullptr;
    }
    const Slot* slot = find(handle);
    const auto seen = std::launder(reinterpret_cast<const T*>(slot->payload))->glance();
    const bool is_of_this_life =
        handle_bits::matches_generation(handle, slot->state.load(std::memory_order_relaxed));
    return is_of_this_life ? seen : nullptr;
  }

  /// As get, but nothing for a handle that is not live or of another kind.
  template <class T>
  std::optional<Borrowed<T>> get_if(int64_t handle) noexcept {
    Slot* slot = try_borrow(handle, HandleKindOf<T>::value);
    if (slot == nullptr) {
      return std::nullopt;
    }
    return Borrowed<T>(this, slot, std::launder(reinterpret_cast<T*>(slot->payload)));
  }

  /// Ends the handle and gives its value away. Throws Error(kInvalidHandle) for a bad handle and
  /// Error(kInvalidArgument) while another call uses the value.
  template <class T>
  T take(int64_t handle) {
    Slot& slot = end_unshared(handle, HandleKindOf<T>::value);
    T* payload = std::launder(reinterpret_cast<T*>(slot.payload));
    T value = std::move(*payload);
    recycle(slot);
    return value;
  }

  /// Ends the handle; its value dies now, or when the last borrower is done. Throws Error(kInvalidHandle).
  void release(int64_t handle);

  /// As release, but passes over a handle that is not live or of another kind; whether it ended one.
  bool release_if(int64_t handle, HandleKind kind) noexcept;

  /// Whether the handle is live and of that kind.
  bool holds(int64_t handle, HandleKind kind) const noexcept;
  bool is_live(int64_t handle) const noexcept;
  /// Those that are live just now.
  std::vector<int64_t> live_ones() const;
  /// "tensor", "optimizer" …
  static const char* kind_name(int64_t handle) noexcept;

  /// +1: somebody wants to hear of new handles (tell_watchers); -1: no longer.
  static void watch(int32_t change) noexcept { watchers_.fetch_add(change, std::memory_order_relaxed); }

  /// Handles that this thread makes from here on end with end_scope(), unless they were kept or released.
  /// Scopes nest.
  static void begin_scope();
  /// The handle outlives this thread's innermost scope: it belongs to the one round it, if there is one.
  /// Throws Error(kInvalidArgument) when no scope is open, or the handle was not made in it.
  static void keep(int64_t handle);
  /// How many handles it ended. Throws Error(kInvalidArgument) when no scope is open.
  int64_t end_scope();

 private:
  static constexpr uint32_t kChunkBits = 12;
  static constexpr uint32_t kChunkSlots = 1U << kChunkBits;
  static constexpr uint32_t kMaxChunks = 1U << 14;
  static constexpr uint32_t kNoSlot = UINT32_MAX;

  struct Slot {
    std::atomic<uint64_t> state{0};
    alignas(void*) std::byte payload[sizeof(void*)];
    void (*destroy)(void*) = nullptr;
    std::atomic<uint32_t> next_free{kNoSlot};
    uint32_t index = 0;  // its own place
  };

  /// A slot that was free, with the value in it.
  template <class T>
  Slot& slot_with(T value) {
    static_assert(sizeof(T) == sizeof(void*) && std::is_nothrow_move_constructible_v<T>);
    Slot& slot = take_free_slot();
    // By one store, behind which the end of the life before is seen: who glanced at that may still look.
    alignas(T) std::byte made[sizeof(T)];
    new (made) T(std::move(value));
    uintptr_t word = 0;
    std::memcpy(&word, made, sizeof word);
    __atomic_store_n(reinterpret_cast<uintptr_t*>(slot.payload), word, __ATOMIC_RELEASE);
    slot.destroy = [](void* payload) {
      auto* held = static_cast<T*>(payload);
      if constexpr (requires { HandleKindOf<T>::release(*held); }) {
        HandleKindOf<T>::release(*held);
      }
      held->~T();
    };
    return slot;
  }

  Slot& slot_at(uint32_t index) const noexcept;  // of a slot that exists
  Slot* find(int64_t handle) const noexcept;
  Slot& borrow(int64_t handle, HandleKind kind);
  Slot* try_borrow(int64_t handle, HandleKind kind) noexcept;
  void release_borrow(Slot& slot) noexcept;
  bool end(int64_t handle) noexcept;
  Slot& end_unshared(int64_t handle, HandleKind kind);
  static int64_t publish(Slot& slot, HandleKind kind) noexcept;
  static int64_t publish_lasting(Slot& slot, HandleKind kind) noexcept;
  /// Remembers it for this thread's innermost scope, and where it was made when that is traced. Ends the
  /// handle when there is no memory for that, and throws.
  void tell_watchers(int64_t handle);
  void recycle(Slot& slot) noexcept;
  Slot* pop_free() noexcept;
  void push_free(Slot& slot) noexcept;
  /// The same by way of what the calling thread keeps for itself.
  Slot* pop_kept() noexcept;
  void recycle_locally(Slot& slot) noexcept;
  struct ThreadSlotCache;
  struct AtThreadEnd;
  static thread_local ThreadSlotCache kept_;
  Slot& take_free_slot();
  void grow();
  [[noreturn]] void refuse(int64_t handle, HandleKind wanted) const;

  static inline constinit std::atomic<int32_t> watchers_{0};  // open scopes of all threads, and births

  std::array<std::atomic<Slot*>, kMaxChunks> chunks_{};
  std::atomic<uint64_t> free_{kNoSlot};  // stack of free slots: counter against ABA, then the top's index
  std::atomic<uint32_t> used_chunks_{0};
  std::mutex growing_;
};

// Here, so that the compiler sees through them: each call of the C ABI looks up handles.

inline HandleTable::Slot* HandleTable::find(int64_t handle) const noexcept {
  const uint64_t index = static_cast<uint64_t>(handle) & handle_bits::kSlotMask;
  if (handle <= 0 || (index >> kChunkBits) >= kMaxChunks) {
    return nullptr;
  }
  Slot* chunk = chunks_[index >> kChunkBits].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : &chunk[index & (kChunkSlots - 1)];
}

inline bool HandleTable::holds(int64_t handle, HandleKind kind) const noexcept {
  const Slot* slot = find(handle);
  return slot != nullptr && handle_bits::kind_of_handle(handle) == static_cast<uint64_t>(kind) &&
         handle_bits::matches_generation(handle, slot->state.load(std::memory_order_acquire));
}

inline HandleTable::Slot& HandleTable::borrow(int64_t handle, HandleKind kind) {
  if (Slot* slot = try_borrow(handle, kind)) [[likely]] {
    return *slot;
  }
  refuse(handle, kind);
}

inline HandleTable::Slot* HandleTable::try_borrow(int64_t handle, HandleKind kind) noexcept {
  Slot* slot = find(handle);
  if (slot == nullptr || handle_bits::kind_of_handle(handle) != static_cast<uint64_t>(kind)) {
    return nullptr;
  }
  uint64_t state = slot->state.load(std::memory_order_relaxed);
  do {
    if (!handle_bits::matches_generation(handle, state) ||
        (state & handle_bits::kBorrowers) == handle_bits::kBorrowers) {
      return nullptr;
    }
  } while (!handle_bits::replace(slot->state, state, state + 1, std::memory_order_acquire,
                                 std::memory_order_relaxed));
  return slot;
}

inline void HandleTable::release_borrow(Slot& slot) noexcept {
  const uint64_t before = handle_bits::add(slot.state, ~uint64_t{0}, std::memory_order_acq_rel);
  if ((before & handle_bits::kBorrowers) == 1 && (before & handle_bits::kLive) == 0) {
    recycle(slot);
  }
}

extern constinit HandleTable process_handles;
static_assert(std::is_trivially_destructible_v<HandleTable>,
              "handles may be released while the process exits");

/// The process's table.
inline HandleTable& handles() noexcept { return process_handles; }

}  // namespace simple_torch::abi
