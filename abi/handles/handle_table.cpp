// Slots, generations and the free list of the handle table.
#include "abi/handles/handle_table.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "abi/handles/allocation_trace.h"
#include "core_libtorch/counted_lock.h"
#include "core_libtorch/error.h"
#include "core_libtorch/thread_object.h"

namespace simple_torch::abi {

using namespace handle_bits;  // NOLINT(google-build-using-namespace): only the handle table uses it

namespace {

// The open scopes of this thread, the innermost last, each with the handles created in it.
using Scopes = std::vector<std::vector<int64_t>>;
Scopes& scopes() { return core::thread_object<Scopes, struct ScopesOfThread>(); }

std::vector<int64_t>& innermost_scope() {
  if (scopes().empty()) {
    throw Error(ErrorKind::kInvalidArgument, "no scope is open on this thread");
  }
  return scopes().back();
}

const char* kind_name_of(uint64_t kind) { return name_of(static_cast<HandleKind>(kind)); }

}  // namespace

constinit HandleTable process_handles;

/// Free slots for the next handles of a thread. The shared list costs two locked instructions per handle.
struct HandleTable::ThreadSlotCache {
  static constexpr int kMax = 16;
  Slot* first = nullptr;
  int count = 0;
  bool is_registered = false;  // ReleaseAtThreadExit exists
  bool is_closed = false;
};

HandleTable::Slot& HandleTable::slot_at(uint32_t index) const noexcept {
  return chunks_[index >> kChunkBits].load(std::memory_order_acquire)[index & (kChunkSlots - 1)];
}

bool HandleTable::end(int64_t handle) noexcept {
  Slot* slot = find(handle);
  if (slot == nullptr) {
    return false;
  }
  if (is_immortal(handle)) [[unlikely]] {
    return is_live(handle);
  }
  uint64_t state = slot->state.load(std::memory_order_relaxed);
  do {
    if (!matches_generation(handle, state)) {
      return false;
    }
  } while (
      !replace(slot->state, state, state & ~kLive, std::memory_order_acq_rel, std::memory_order_relaxed));
  handle_counts::decrement(static_cast<HandleKind>(kind_of_handle(handle)));
  if ((state & kBorrowers) == 0) {
    recycle(*slot);
  }
  return true;
}

void HandleTable::release(int64_t handle) {
  if (!end(handle)) {
    throw_invalid(handle, static_cast<HandleKind>(handle > 0 ? kind_of_handle(handle) : 0));
  }
}

void HandleTable::begin_scope() {
  scopes().emplace_back();
  watch(+1);
}

void HandleTable::keep(int64_t handle) {
  std::vector<int64_t>& made = innermost_scope();
  if (is_immortal(handle) && process_handles.is_live(handle)) {
    return;
  }
  const auto found = std::find(made.rbegin(), made.rend(), handle);
  if (found == made.rend()) {
    throw Error(ErrorKind::kInvalidArgument, "handle " + std::to_string(handle) +
                                                 " was not created in the innermost scope of this thread");
  }
  if (scopes().size() > 1) {
    scopes()[scopes().size() - 2].push_back(handle);
  }
  made.erase(std::next(found).base());
}

int64_t HandleTable::end_scope() {
  const std::vector<int64_t> made = std::move(innermost_scope());
  scopes().pop_back();
  watch(-1);
  return std::count_if(made.rbegin(), made.rend(), [this](int64_t handle) { return end(handle); });
}

void HandleTable::notify_watchers(int64_t handle) {
  if (allocation_trace::traced.load(std::memory_order_relaxed)) {
    allocation_trace::record(handle);
  }
  if (scopes().empty()) {
    return;
  }
  try {
    scopes().back().push_back(handle);
  } catch (...) {
    end(handle);
    throw;
  }
}

bool HandleTable::release_if(int64_t handle, HandleKind kind) noexcept {
  return handle > 0 && kind_of_handle(handle) == static_cast<uint64_t>(kind) && end(handle);
}

HandleTable::Slot& HandleTable::end_unshared(int64_t handle, HandleKind kind) {
  Slot* slot = find(handle);
  if (slot == nullptr || kind_of_handle(handle) != static_cast<uint64_t>(kind)) {
    throw_invalid(handle, kind);
  }
  uint64_t state = slot->state.load(std::memory_order_relaxed);
  do {
    if (!matches_generation(handle, state)) {
      throw_invalid(handle, kind);
    }
    if (is_immortal(handle)) {
      throw Error(ErrorKind::kInvalidArgument,
                  std::string("cannot consume an immortal ") + kind_name_of(kind_of_handle(handle)));
    }
    if ((state & kBorrowers) != 0) {
      throw Error(ErrorKind::kInvalidArgument,
                  std::string("another call is using this ") + kind_name_of(kind_of_handle(handle)));
    }
  } while (
      !replace(slot->state, state, state & ~kLive, std::memory_order_acq_rel, std::memory_order_relaxed));
  handle_counts::decrement(static_cast<HandleKind>(kind_of_handle(handle)));
  return *slot;
}

bool HandleTable::is_live(int64_t handle) const noexcept {
  return handle > 0 && holds(handle, static_cast<HandleKind>(kind_of_handle(handle)));
}

std::vector<int64_t> HandleTable::live_handles() const {
  std::vector<int64_t> found;
  for (uint32_t index = 0;; ++index) {
    const Slot* chunk = index < kMaxChunks ? chunks_[index].load(std::memory_order_acquire) : nullptr;
    if (chunk == nullptr) {
      return found;
    }
    for (uint32_t i = 0; i < kChunkSlots; ++i) {
      const uint64_t state = chunk[i].state.load(std::memory_order_acquire);
      if ((state & kLive) != 0 && (state >> kGenerationShift) != 0) {
        found.push_back(handle_of(state, chunk[i].index));
      }
    }
  }
}

const char* HandleTable::kind_name(int64_t handle) noexcept { return kind_name_of(kind_of_handle(handle)); }

int64_t HandleTable::publish(Slot& slot, HandleKind kind) noexcept {
  handle_counts::increment(kind);
  const uint64_t generation = slot.state.load(std::memory_order_relaxed) >> kGenerationShift;
  const uint64_t state =
      (generation << kGenerationShift) | (static_cast<uint64_t>(kind) << kKindShift) | kLive;
  slot.state.store(state, std::memory_order_release);
  return handle_of(state, slot.index);
}

int64_t HandleTable::publish_immortal(Slot& slot, HandleKind kind) noexcept {
  const uint64_t state = (static_cast<uint64_t>(kind) << kKindShift) | kLive;
  slot.state.store(state, std::memory_order_release);
  return handle_of(state, slot.index);
}

void HandleTable::recycle(Slot& slot) noexcept {
  slot.destroy(slot.payload);
  const uint64_t generation = (slot.state.load(std::memory_order_relaxed) >> kGenerationShift) + 1;
  if (generation <= kGenerationMask) {
    slot.state.store(generation << kGenerationShift, std::memory_order_release);
    recycle_locally(slot);
  }
}

HandleTable::Slot* HandleTable::pop_free() noexcept {
  uint64_t top = free_.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(top) != kNoSlot) {
    Slot& slot = slot_at(static_cast<uint32_t>(top));
    const uint64_t counter = (top >> 32) + 1;
    const uint64_t next = (counter << 32) | slot.next_free.load(std::memory_order_relaxed);
    if (replace(free_, top, next, std::memory_order_acquire, std::memory_order_acquire)) {
      return &slot;
    }
  }
  return nullptr;
}

void HandleTable::push_free(Slot& slot) noexcept {
  uint64_t top = free_.load(std::memory_order_relaxed);
  uint64_t next = 0;
  do {
    slot.next_free.store(static_cast<uint32_t>(top), std::memory_order_relaxed);
    next = (((top >> 32) + 1) << 32) | slot.index;
  } while (!replace(free_, top, next, std::memory_order_release, std::memory_order_relaxed));
}

// The initial-exec model needs no call. It is safe because this library is never unloaded.
[[gnu::tls_model("initial-exec")]] thread_local HandleTable::ThreadSlotCache HandleTable::slot_cache_;

/// Returns the cached slots to the shared list and closes the cache.
struct HandleTable::ReleaseAtThreadExit {
  ~ReleaseAtThreadExit() {
    slot_cache_.is_closed = true;
    while (Slot* slot = process_handles.pop_cached()) {
      process_handles.push_free(*slot);
    }
  }
};

HandleTable::Slot* HandleTable::pop_cached() noexcept {
  Slot* slot = slot_cache_.first;
  if (slot != nullptr) {
    const uint32_t next = slot->next_free.load(std::memory_order_relaxed);
    slot_cache_.first = next == kNoSlot ? nullptr : &slot_at(next);
    --slot_cache_.count;
  }
  return slot;
}

void HandleTable::recycle_locally(Slot& slot) noexcept {
  if (this != &process_handles || slot_cache_.is_closed || slot_cache_.count == ThreadSlotCache::kMax) {
    push_free(slot);
    return;
  }
  if (!std::exchange(slot_cache_.is_registered, true)) {
    static thread_local const ReleaseAtThreadExit release_at_thread_exit;
  }
  slot.next_free.store(slot_cache_.first == nullptr ? kNoSlot : slot_cache_.first->index,
                       std::memory_order_relaxed);
  slot_cache_.first = &slot;
  ++slot_cache_.count;
}

HandleTable::Slot& HandleTable::take_free_slot() {
  if (this == &process_handles) {
    if (Slot* slot = pop_cached()) {
      return *slot;
    }
  }
  while (true) {
    if (Slot* slot = pop_free()) {
      return *slot;
    }
    grow();
  }
}

void HandleTable::grow() {
  const core::CountedLockGuard lock(growing_);
  if (static_cast<uint32_t>(free_.load(std::memory_order_acquire)) != kNoSlot) {
    return;  // another thread grew the table
  }
  const uint32_t chunk_index = used_chunks_.load(std::memory_order_relaxed);
  if (chunk_index == kMaxChunks) {
    throw Error(ErrorKind::kOutOfMemory,
                "out of handles: all " + std::to_string(uint64_t{kMaxChunks} * kChunkSlots) + " are in use");
  }
  auto* chunk = new Slot[kChunkSlots];
  for (uint32_t i = 0; i < kChunkSlots; ++i) {
    chunk[i].index = (chunk_index << kChunkBits) | i;
    chunk[i].state.store(1ULL << kGenerationShift, std::memory_order_relaxed);
  }
  chunks_[chunk_index].store(chunk, std::memory_order_release);
  used_chunks_.store(chunk_index + 1, std::memory_order_relaxed);
  for (uint32_t i = kChunkSlots; i > 0; --i) {  // low indices are used first
    push_free(chunk[i - 1]);
  }
}

void HandleTable::throw_invalid(int64_t handle, HandleKind expected) const {
  const std::string name = "handle " + std::to_string(handle);
  if (handle == 0) {
    throw Error(ErrorKind::kInvalidHandle, "handle 0 refers to no value");
  }
  if (handle < 0) {
    throw Error(ErrorKind::kInvalidHandle,
                name + " is negative: into_dlpack() has consumed the tensor, or the handle is invalid");
  }
  const Slot* slot = find(handle);
  if (slot == nullptr || kind_of_handle(handle) == 0 || kind_of_handle(handle) >= kHandleKinds) {
    throw Error(ErrorKind::kInvalidHandle, "unknown " + name);
  }
  const uint64_t state = slot->state.load(std::memory_order_acquire);
  if (matches_generation(handle, state) && kind_of_handle(handle) == static_cast<uint64_t>(expected)) {
    throw Error(ErrorKind::kInvalidArgument, name + " has more than 16777215 concurrent borrowers");
  }
  if (matches_generation(handle, state)) {
    throw Error(ErrorKind::kInvalidHandle, name + ": expected a handle of kind " + name_of(expected) +
                                               ", got " + kind_name_of(kind_of_handle(handle)));
  }
  const bool was =
      generation_of_handle(handle) != 0 && generation_of_handle(handle) <= (state >> kGenerationShift);
  throw Error(ErrorKind::kInvalidHandle, was ? name + " has been released" : "unknown " + name);
}

}  // namespace simple_torch::abi
