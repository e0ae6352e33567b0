// The table of all handles: slot, generation and kind. All threads share it.
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

/// The kind of the handles that hold a T: specialise with `static constexpr HandleKind value`.
/// T has the size of a pointer and a noexcept move constructor, and may be destroyed on any thread. If its
/// destructor must not run on every thread, `static void release(T&) noexcept` empties the value first.
template <class T>
struct HandleKindOf;

/// Handles to values of several types.
///
/// Invariant of a slot: `state` packs generation, kind, live bit and borrow count. The value is destroyed
/// when the slot is not live and the borrow count is 0, by the thread that makes this true, without a lock.
/// Each reuse increments the generation, so a released handle stays invalid; a slot whose generations are
/// exhausted is not reused. Generation 0 belongs to immortal handles.
class HandleTable {
  struct Slot;

 public:
  /// Keeps a value alive for its own lifetime, even if the handle is released meanwhile.
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

  /// Returns a new handle, which is positive. Throws Error(kOutOfMemory) if no slot is free.
  template <class T>
  int64_t insert(T value) {
    Slot& slot = slot_with(std::move(value));
    const int64_t handle = publish(slot, HandleKindOf<T>::value);
    if (watchers_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      notify_watchers(handle);
    }
    return handle;
  }

  /// Returns a handle that lives as long as the process. It is not counted; releasing or keeping it has no
  /// effect, and take() rejects it.
  template <class T>
  int64_t insert_immortal(T value) {
    return publish_immortal(slot_with(std::move(value)), HandleKindOf<T>::value);
  }

  /// `handle` is live.
  static bool is_immortal(int64_t handle) noexcept { return handle_bits::generation_of_handle(handle) == 0; }

  /// Borrows the value, without a lock. Throws Error(kInvalidHandle).
  template <class T>
  Borrowed<T> get(int64_t handle) {
    Slot& slot = borrow(handle, HandleKindOf<T>::value);
    return Borrowed<T>(this, &slot, std::launder(reinterpret_cast<T*>(slot.payload)));
  }

  /// Returns `T::peek()` without borrowing the value, so other means must keep it alive. NULL if the handle
  /// is not live or of another kind.
  template <class T>
  auto peek(int64_t handle) noexcept -> decltype(std::declval<const T&>().peek()) {
    if (!holds(handle, HandleKindOf<T>::value)) {
      return nullptr;
    }
    const Slot* slot = find(handle);
    const auto seen = std::launder(reinterpret_cast<const T*>(slot->payload))->peek();
    const bool is_same_generation =
        handle_bits::matches_generation(handle, slot->state.load(std::memory_order_relaxed));
    return is_same_generation ? seen : nullptr;
  }

  /// As get(), but returns nullopt if the handle is not live or of another kind.
  template <class T>
  std::optional<Borrowed<T>> get_if(int64_t handle) noexcept {
    Slot* slot = try_borrow(handle, HandleKindOf<T>::value);
    if (slot == nullptr) {
      return std::nullopt;
    }
    return Borrowed<T>(this, slot, std::launder(reinterpret_cast<T*>(slot->payload)));
  }

  /// Releases the handle and returns its value. Throws Error(kInvalidHandle), and Error(kInvalidArgument) if
  /// the value is borrowed.
  template <class T>
  T take(int64_t handle) {
    Slot& slot = end_unshared(handle, HandleKindOf<T>::value);
    T* payload = std::launder(reinterpret_cast<T*>(slot.payload));
    T value = std::move(*payload);
    recycle(slot);
    return value;
  }

  /// Releases the handle. The value is destroyed at once or by the last borrower. Throws
  /// Error(kInvalidHandle).
  void release(int64_t handle);

  /// As release(), but ignores a handle that is not live or of another kind. Returns whether it released one.
  bool release_if(int64_t handle, HandleKind kind) noexcept;

  /// Whether the handle is live and of this kind.
  bool holds(int64_t handle, HandleKind kind) const noexcept;
  bool is_live(int64_t handle) const noexcept;
  /// The handles that are live during the call.
  std::vector<int64_t> live_handles() const;
  /// "tensor", "optimizer" …
  static const char* kind_name(int64_t handle) noexcept;

  /// Adds to the number of watchers, which notify_watchers() serves: +1 or -1.
  static void watch(int32_t change) noexcept { watchers_.fetch_add(change, std::memory_order_relaxed); }

  /// Opens a scope: end_scope() releases the handles that this thread creates from here on, unless they are
  /// kept. Scopes nest.
  static void begin_scope();
  /// Moves the handle from this thread's innermost scope to the enclosing one, if any. Throws
  /// Error(kInvalidArgument) if no scope is open or the handle is not in it.
  static void keep(int64_t handle);
  /// Returns the number of released handles. Throws Error(kInvalidArgument) if no scope is open.
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
    uint32_t index = 0;  // in the table
  };

  /// Moves the value into a free slot.
  template <class T>
  Slot& slot_with(T value) {
    static_assert(sizeof(T) == sizeof(void*) && std::is_nothrow_move_constructible_v<T>);
    Slot& slot = take_free_slot();
    // One release store, so that a concurrent peek() that reads the new value also sees that the previous
    // generation ended.
    alignas(T) std::byte storage[sizeof(T)];
    new (storage) T(std::move(value));
    uintptr_t word = 0;
    std::memcpy(&word, storage, sizeof word);
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

  Slot& slot_at(uint32_t index) const noexcept;
  Slot* find(int64_t handle) const noexcept;
  Slot& borrow(int64_t handle, HandleKind kind);
  Slot* try_borrow(int64_t handle, HandleKind kind) noexcept;
  void release_borrow(Slot& slot) noexcept;
  bool end(int64_t handle) noexcept;
  Slot& end_unshared(int64_t handle, HandleKind kind);
  static int64_t publish(Slot& slot, HandleKind kind) noexcept;
  static int64_t publish_immortal(Slot& slot, HandleKind kind) noexcept;
  /// Adds a new handle to this thread's innermost scope and to the trace. Releases the handle and throws if
  /// memory is exhausted.
  [[gnu::noinline]] void notify_watchers(int64_t handle);
  void recycle(Slot& slot) noexcept;
  Slot* pop_free() noexcept;
  void push_free(Slot& slot) noexcept;
  /// The same with the calling thread's cache.
  Slot* pop_cached() noexcept;
  void recycle_locally(Slot& slot) noexcept;
  struct ThreadSlotCache;
  struct ReleaseAtThreadExit;
  static thread_local ThreadSlotCache slot_cache_;
  Slot& take_free_slot();
  [[gnu::noinline]] void grow();
  [[noreturn, gnu::noinline, gnu::cold]] void throw_invalid(int64_t handle, HandleKind expected) const;

  static inline constinit std::atomic<int32_t> watchers_{
      0};  // open scopes of all threads, plus 1 while tracing

  std::array<std::atomic<Slot*>, kMaxChunks> chunks_{};
  std::atomic<uint64_t> free_{kNoSlot};  // stack of free slots: ABA counter, index of the top
  std::atomic<uint32_t> used_chunks_{0};
  std::mutex growing_;
};

// Inline, because each call of the C ABI looks up handles.

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
  throw_invalid(handle, kind);
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

/// The table of the process.
inline HandleTable& handles() noexcept { return process_handles; }

}  // namespace simple_torch::abi
