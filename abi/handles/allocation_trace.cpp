#include "abi/handles/allocation_trace.h"

#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "abi/handles/handle_table.h"
#include "core_libtorch/counted_lock.h"

namespace simple_torch::abi::allocation_trace {
namespace {

thread_local const char* running = "";
thread_local bool is_in_callback = false;  // handles that the callback creates have no location

std::string location_from(SptLocation callback) {
  if (callback == nullptr || is_in_callback) {
    return "";
  }
  is_in_callback = true;
  char* const location = callback();
  is_in_callback = false;
  std::string text = location != nullptr ? location : "";
  std::free(location);
  return text;
}

class Trace {
 public:
  void set_location(SptLocation callback) { location_ = callback; }

  void clear() {
    const core::CountedLockGuard lock(mutex_);
    allocations_.clear();
    location_ = nullptr;
  }

  void record(int64_t handle) {
    Allocation allocation{std::string("spt_") + running,
                          location_from(location_.load(std::memory_order_relaxed))};
    const core::CountedLockGuard lock(mutex_);
    allocations_[handle] = std::move(allocation);
    if (allocations_.size() > prune_above_) {
      std::erase_if(allocations_, [](const auto& each) { return !handles().is_live(each.first); });
      prune_above_ = kMinPruneSize + 2 * allocations_.size();
    }
  }

  std::optional<Allocation> of(int64_t handle) {
    const core::CountedLockGuard lock(mutex_);
    const auto found = allocations_.find(handle);
    return found == allocations_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  static constexpr size_t kMinPruneSize = 4096;

  std::mutex mutex_;
  std::unordered_map<int64_t, Allocation> allocations_;  // includes released handles until pruning
  size_t prune_above_ = kMinPruneSize;
  std::atomic<SptLocation> location_{nullptr};
};

Trace& trace() {
  static Trace& instance = *new Trace;  // used by threads that may outlive main
  return instance;
}

}  // namespace

constinit std::atomic<bool> traced{false};

void start(SptLocation location) {
  trace().set_location(location);
  if (!traced.exchange(true)) {
    HandleTable::watch(+1);
  }
}

void stop() {
  if (traced.exchange(false)) {
    HandleTable::watch(-1);
  }
  trace().clear();
}

void record_function(const char* name) noexcept { running = name; }

void record(int64_t handle) noexcept {
  try {
    trace().record(handle);
  } catch (const std::bad_alloc&) {
    return;  // the report shows the handle as not traced
  }
}

std::optional<Allocation> of(int64_t handle) { return trace().of(handle); }

}  // namespace simple_torch::abi::allocation_trace
